import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SoakShop } from '../soak/load.ts';

/** At a gateway, by its origin. @throws Error where it did not do what it should, with what came instead */
export type Call = (origin: string) => Promise<void>;

const failed = async (answer: Response) => {
  const body = await answer.text();
  return new Error(`${answer.status} ${/"code":"(\w+)"/.exec(body)?.[1] ?? body.slice(0, 80)}`);
};

const patienceMs = 20_000;
/** Seconds that a slow upload takes; it sends a piece every half of one. */
export const uploadSeconds = 25;
/** Pieces of a slow answer, one a second. */
export const streamPieces = 30;

const boundary = 'backlot-exchange';
const pieceBytes = 32 * 1024;

/** By what is asked, and how long a caller pauses after it. */
export const quickCalls = (shop: SoakShop, fileUrl: string): Record<string, [Call, number]> => {
  const runtime = `/api/runtime/${shop.id}`;
  const project = `/api/platform/projects/${shop.id}`;
  const call =
    (path: string, token: string | undefined, body?: object): Call =>
    async (origin) => {
      const answer = await fetch(origin + path, {
        method: body ? 'POST' : 'GET',
        headers: {
          ...(token && { authorization: `Bearer ${token}` }),
          'content-type': 'application/json',
        },
        body: body ? JSON.stringify(body) : null,
        signal: AbortSignal.timeout(patienceMs),
      });
      if (!answer.ok) throw await failed(answer);
      await answer.arrayBuffer();
    };
  const question = { messages: [{ role: 'user', content: 'Hello?' }], maxTokens: 50 };
  return {
    'read records': [call(`${runtime}/db/notes?limit=5`, shop.key), 100],
    'read auth': [call('/api/runtime/platform/auth/me', shop.owner), 200],
    'read storage': [call(new URL(fileUrl).pathname, undefined), 200],
    'read projects': [call(project, shop.owner), 200],
    'read email': [call(`${project}/emails?limit=1`, shop.owner), 200],
    'read payments': [call(`${project}/payments?limit=1`, shop.owner), 200],
    'write records': [call(`${runtime}/db/notes`, shop.key, { data: { title: 'a note' } }), 500],
    'ask ai': [call(`${runtime}/ai`, shop.key, question), 500],
  };
};

/** A form with a file, sent in so many pieces. @returns the file's address */
export const upload = async (
  origin: string,
  shop: SoakShop,
  pieces: readonly Buffer[],
  pauseMs: number,
): Promise<string> => {
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="visibility"\r\n\r\npublic\r\n--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\nContent-Type: application/octet-stream\r\n\r\n`;
  async function* body() {
    yield Buffer.from(head);
    for (const piece of pieces) {
      yield piece;
      await sleep(pauseMs);
    }
    yield Buffer.from(`\r\n--${boundary}--\r\n`);
  }
  const answer = await fetch(`${origin}/api/runtime/${shop.id}/storage/upload`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${shop.key}`,
      'content-type': `multipart/form-data; boundary=${boundary}`,
    },
    body: ReadableStream.from(body()),
    duplex: 'half',
  } as RequestInit);
  if (answer.status !== 201) throw await failed(answer);
  return ((await answer.json()) as { url: string }).url;
};

const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** Calls that last: a file that comes slowly, with its bytes read afterwards, and an answer of the model. */
export const slowCalls = (shop: SoakShop, files: Map<string, string>): Record<string, Call> => ({
  async upload(origin) {
    const pieces = Array.from({ length: uploadSeconds * 2 }, () => randomBytes(pieceBytes));
    const url = await upload(origin, shop, pieces, 500);
    files.set(url, hash(Buffer.concat(pieces)));
  },
  async stream(origin) {
    const answer = await fetch(`${origin}/api/runtime/${shop.id}/ai`, {
      method: 'POST',
      headers: { authorization: `Bearer ${shop.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ stream: true, messages: [{ role: 'user', content: 'Slowly.' }] }),
    });
    if (!answer.ok) throw await failed(answer);
    const text = await answer.text();
    const deltas = text.match(/^event: delta$/gm)?.length ?? 0;
    if (!/^event: done$/m.test(text))
      throw new Error(`ended after ${deltas} pieces: ${text.slice(-200)}`);
  },
});

/** @returns those whose bytes are others now */
export const changedFiles = async (origin: string, files: ReadonlyMap<string, string>) => {
  const changed: string[] = [];
  for (const [url, expected] of files) {
    const answer = await fetch(origin + new URL(url).pathname);
    const bytes = new Uint8Array(await answer.arrayBuffer());
    if (hash(bytes) !== expected) changed.push(url);
  }
  return changed;
};
