import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, type Api, apiAt } from '@backlot/testing/platform-api';

/** A call that did not do what it should have. */
export interface Failure {
  /** Epoch milliseconds. */
  from: number;
  to: number;
  kind: string;
  gateway: string;
  /** 0 where nothing came. */
  status: number;
  code: string;
}

export interface SoakShop {
  id: string;
  owner: string;
  key: string;
}

/** What callers were told is done; `prove` asks for it afterwards. */
export interface Acknowledged {
  /** Number of each record that was asked for, with its id once that was answered. */
  records: Map<number, string | undefined>;
  /** Path and SHA-256. */
  files: Map<string, string>;
  /** Numbers of mails. */
  mails: Set<number>;
  /** Numbers of calls of the model. */
  answers: Set<number>;
  /** Sessions that were paid. */
  paid: Set<string>;
}

/** How often each kind of call is made, with the pause after each. */
const pausesMs = {
  record: 250,
  read: 150,
  answer: 500,
  mail: 1500,
  file: 1500,
  payment: 3000,
  me: 400,
};
type Kind = keyof typeof pausesMs;

const patienceMs = 20_000;
const fileBytes = 64 * 1024;
/** A call of the model says by its price which one it is; below this all cost the same. */
export const tokensOfFirst = 1000;

const boundary = 'backlot-soak';
const asForm = (name: string, text: string) =>
  [
    `--${boundary}`,
    'Content-Disposition: form-data; name="visibility"',
    '',
    'public',
    `--${boundary}`,
    `Content-Disposition: form-data; name="file"; filename="${name}"`,
    'Content-Type: text/plain',
    '',
    text,
    `--${boundary}--`,
    '',
  ].join('\r\n');

const isServed = (status: number) => status < 400;

/** Calls of all kinds by both gateways, each repeated with its key until it is done. */
export const createLoad = (gateways: readonly string[], shop: SoakShop, models: SoakShop) => {
  const done: Acknowledged = {
    records: new Map(),
    files: new Map(),
    mails: new Set(),
    answers: new Set(),
    paid: new Set(),
  };
  const failures: Failure[] = [];
  const counts: Record<string, number> = {};
  let isOver = false;
  let turn = 0;
  const send: typeof fetch = (address, init) =>
    fetch(address, { ...init, redirect: 'manual', signal: AbortSignal.timeout(patienceMs) });

  const attempt = async (
    kind: Kind,
    projectId: string,
    ...[method, path, options]: Parameters<Api>
  ): Promise<Answer | undefined> => {
    const gateway = gateways[turn++ % gateways.length] ?? '';
    const from = Date.now();
    const call = apiAt(`${gateway}/api/runtime/${projectId}`, send);
    const answer = await call(method, path, options).catch(() => undefined);
    counts[kind] = (counts[kind] ?? 0) + 1;
    const status = answer?.status ?? 0;
    if (isServed(status) && answer) return answer;
    const code = answer?.body?.code ?? 'unanswered';
    failures.push({ from, to: Date.now(), kind, gateway, status, code });
    return undefined;
  };

  /** Until it is done: who repeats with the same key gets the same answer. */
  const persist = async (...call: Parameters<typeof attempt>): Promise<Answer | undefined> => {
    const [kind, projectId, method, path, options] = call;
    const headers = { ...options?.headers, 'idempotency-key': randomUUID() };
    for (let tries = 0; tries < 60; tries++) {
      const answer = await attempt(kind, projectId, method, path, { ...options, headers });
      if (answer) return answer;
      await sleep(1000);
    }
    return undefined;
  };

  const { key: token } = shop;
  const work: Record<Kind, (n: number) => Promise<unknown>> = {
    async record(n) {
      done.records.set(n, undefined);
      const body = { data: { n, title: `number ${n}` } };
      const answer = await persist('record', shop.id, 'POST', '/db/notes', { token, body });
      if (answer) done.records.set(n, answer.body.id);
    },
    async read() {
      await attempt('read', shop.id, 'GET', '/db/notes?limit=5', { token });
    },
    async answer(n) {
      const content = 'four'.repeat(tokensOfFirst + n);
      const body = { messages: [{ role: 'user', content }], maxTokens: 50 };
      const call = await persist('answer', models.id, 'POST', '/ai', { token: models.key, body });
      if (call) done.answers.add(n);
    },
    async mail(n) {
      const body = { to: 'ada@example.org', subject: `Mail ${n}`, html: '<p>Hello</p>' };
      if (await persist('mail', shop.id, 'POST', '/email/send', { token, body })) done.mails.add(n);
    },
    async file(n) {
      const text = `file ${n} `.repeat(fileBytes / 8);
      const answer = await attempt('file', shop.id, 'POST', '/storage/upload', {
        token,
        body: asForm(`${n}.txt`, text),
        headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
      });
      const hash = createHash('sha256').update(text).digest('hex');
      if (answer) done.files.set(new URL(answer.body.url).pathname, hash);
    },
    async payment(n) {
      const body = { items: [{ name: `Mug ${n}`, amount: 1999 }], returnUrl: 'http://localhost/' };
      const made = await persist('payment', shop.id, 'POST', '/payments/checkout', { token, body });
      if (!made) return;
      const { sessionId } = made.body;
      const path = `/payments/test-checkout/${sessionId}`;
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      for (let tries = 0; tries < 20; tries++) {
        const pay = { body: 'action=pay', headers };
        if (await attempt('payment', shop.id, 'POST', path, pay)) break;
        await sleep(1000);
      }
      const verify = `/payments/verify?session_id=${sessionId}`;
      const answer = await attempt('payment', shop.id, 'GET', verify, { token });
      if (answer?.body.paid) done.paid.add(sessionId);
    },
    async me() {
      await attempt('me', 'platform', 'GET', '/auth/me', { token: shop.owner });
    },
  };

  const repeat = async (kind: Kind) => {
    for (let n = 0; !isOver; n++) {
      await work[kind](n);
      await sleep(pausesMs[kind]);
    }
  };
  const loops = (Object.keys(pausesMs) as Kind[]).map(repeat);

  return {
    done,
    failures,
    counts,
    /** Resolves when the calls under way have ended. */
    async stop() {
      isOver = true;
      await Promise.all(loops);
    },
  };
};
