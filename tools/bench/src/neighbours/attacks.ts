import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { apiAt } from '@backlot/testing/platform-api';
import { type Address, fetchFrom, from } from './addresses.ts';
import { checked, openTenant, password, signUp, type Tenant, upload } from './tenants.ts';

/** One of those who attack, with what its project holds. */
export interface Attacker {
  tenant: Tenant;
  /** Where its calls come from during the attack. */
  address: Address;
  /** Of an image in its project. */
  pictureUrl: string;
  victim: { base: string; userToken: string };
}

export interface AttackLoop {
  signal: AbortSignal;
  /** @param status of an answer that was read, or its first bytes where nobody waits for more */
  onAnswer(status: number): void;
  onBytes(count: number): void;
}

export interface Attack {
  what: string;
  /** Over the records of {@link fillProject}. */
  isOverLargeRecords?: true;
  /** One call after the other until the signal; several such loops run at once. */
  run(attacker: Attacker, loop: AttackLoop): Promise<void>;
}

export const largeCollection = 'large';
const largeRecords = 12;
const largeBytes = 512 * 1024;

/** Records that are expensive to look through and to send. */
export const fillProject = async ({ base, ownerToken, address }: Tenant): Promise<void> => {
  const call = apiAt(base, fetchFrom(address));
  const tags = Array.from({ length: 400 }, (_, index) => `tag ${index}`);
  for (let record = 0; record < largeRecords; record++) {
    const data = { tags, text: randomBytes(largeBytes / 2).toString('hex'), number: record };
    const options = { token: ownerToken, body: { data } };
    checked(201, await call('POST', `/db/${largeCollection}`, options));
  }
};

type Request = { path: string; init?: RequestInit };

/** @param victimBase of the project that its neighbours live in, where it has an account as well */
export const openAttacker = async (
  victimBase: string,
  address: Address,
  picture: Uint8Array<ArrayBuffer>,
): Promise<Attacker> => {
  const tenant = await openTenant(new URL(victimBase).origin, address);
  const pictureUrl = await upload(tenant, picture);
  const { token } = await signUp(victimBase, address);
  return { tenant, address, pictureUrl, victim: { base: victimBase, userToken: token } };
};

/** Repeats a call whose answer it reads to the end; a short rest after a refusal, as a program would. */
const repeat = async (
  { tenant, address }: Attacker,
  { signal, onAnswer, onBytes }: AttackLoop,
  next: (turn: number) => Request,
) => {
  const fetchAsAttacker = fetchFrom(address);
  for (let turn = 0; !signal.aborted; turn++) {
    const { path, init = {} } = next(turn);
    const url = path.startsWith('http') ? path : tenant.base + path;
    const headers = { 'content-type': 'application/json', ...init.headers };
    const read = async () => {
      const response = await fetchAsAttacker(url, { ...init, headers, signal });
      for await (const chunk of response.body ?? []) onBytes(chunk.length);
      return response.status;
    };
    const status = await read().catch(() => 0);
    if (status !== 0) onAnswer(status);
    if (status === 0 || status === 429 || status === 503) await pause(20);
  }
};

const asUser = ({ tenant }: Attacker) => ({ authorization: `Bearer ${tenant.userToken}` });
const posted = (path: string, body: unknown, headers = {}): Request => ({
  path,
  init: { method: 'POST', body: JSON.stringify(body), headers },
});

const expensiveFilter = JSON.stringify({
  $or: Array.from({ length: 4 }, (_, part) => ({
    tags: { $all: Array.from({ length: 90 }, (_, index) => `tag ${399 - index} ${part}`) },
  })),
});

/** A connection of its own that sends the start of a call and stays until the signal, or the other side ends it. */
const openCall = (
  { tenant, address }: Attacker,
  start: { method: string; path: string; headers?: string; body?: string },
  signal: AbortSignal,
  onOpen: (socket: Socket) => void,
) =>
  new Promise<void>((resolve) => {
    const { hostname, port, pathname, search } = new URL(tenant.base + start.path);
    const socket = connect({ port: Number(port) || 80, host: hostname, ...from(address) });
    const end = () => socket.destroy();
    signal.addEventListener('abort', end, { once: true });
    socket
      .on('error', () => {})
      .once('close', () => {
        signal.removeEventListener('abort', end);
        resolve();
      });
    const { method, headers = '', body = '' } = start;
    socket.write(
      `${method} ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}\r\n${headers}\r\n${body}`,
    );
    onOpen(socket);
  });

/** It begins with "HTTP/1.1 ". */
const countAnswer =
  ({ onAnswer }: AttackLoop) =>
  (socket: Socket) =>
    void socket.once('data', (head) => onAnswer(Number(head.toString('latin1', 9, 12))));
const leaveAnswer = (socket: Socket) => void socket.pause();

const often = async (times: number, { signal }: AttackLoop, open: () => Promise<void>) => {
  const keepOpen = async () => {
    while (!signal.aborted) {
      await open();
      if (!signal.aborted) await pause(500);
    }
  };
  await Promise.all(Array.from({ length: times }, keepOpen));
};

export const attacks: Record<string, Attack> = {
  queries: {
    what: 'filters of 360 tested values over large records',
    isOverLargeRecords: true,
    run: (attacker, loop) =>
      repeat(attacker, loop, () => ({
        path: `/db/${largeCollection}?where=${encodeURIComponent(expensiveFilter)}`,
      })),
  },
  'quick queries': {
    what: 'filters of one value over large records',
    isOverLargeRecords: true,
    run: (attacker, loop) =>
      repeat(attacker, loop, () => ({
        path: `/db/${largeCollection}?limit=1&where=${encodeURIComponent('{"none":1}')}`,
      })),
  },
  'short queries': {
    what: 'filters of one value over some hundred small records',
    run(attacker, loop) {
      const create = Array.from({ length: 100 }, (_, number) => ({ data: { number } }));
      const filter = `/db/small?limit=1&where=${encodeURIComponent('{"none":1}')}`;
      return repeat(attacker, loop, (turn) =>
        turn === 0 ? posted('/db/small/_batch', { create }, asUser(attacker)) : { path: filter },
      );
    },
  },
  pages: {
    what: 'pages of 6 MB, read as fast as they come',
    isOverLargeRecords: true,
    run: (attacker, loop) =>
      repeat(attacker, loop, () => ({ path: `/db/${largeCollection}?limit=100` })),
  },
  unread: {
    what: 'pages of 6 MB that nobody takes',
    isOverLargeRecords: true,
    run: (attacker, loop) =>
      often(3, loop, () => {
        const call = { method: 'GET', path: `/db/${largeCollection}?limit=100` };
        return openCall(attacker, call, loop.signal, leaveAnswer);
      }),
  },
  creates: {
    what: 'records of 512 KB',
    run(attacker, loop) {
      const data = { text: 'x'.repeat(largeBytes) };
      return repeat(attacker, loop, () => posted('/db/dump', { data }));
    },
  },
  'slow bodies': {
    what: 'bodies that stop after 400 KB',
    run(attacker, loop) {
      const headers = 'Content-Type: application/json\r\nContent-Length: 500000\r\n';
      const body = `{"prompt":"${'x'.repeat(400_000)}`;
      const call = { method: 'POST', path: '/ai', headers, body };
      return often(5, loop, () => openCall(attacker, call, loop.signal, countAnswer(loop)));
    },
  },
  passwords: {
    what: 'sign-ins with an Idempotency-Key',
    run: (attacker, loop) =>
      repeat(attacker, loop, () =>
        posted(
          '/auth/signin',
          { email: attacker.tenant.userEmail, password },
          { 'idempotency-key': randomUUID() },
        ),
      ),
  },
  images: {
    what: 'a new thumbnail with each call',
    run: (attacker, loop) =>
      repeat(attacker, loop, () => ({
        path: `${attacker.pictureUrl}?width=${randomInt(16, 1416)}&format=avif`,
      })),
  },
  schemas: {
    what: 'JSON schemas that are refused late',
    run(attacker, loop) {
      const properties = Object.fromEntries(
        Array.from({ length: 400 }, (_, index) => [`p${index}`, { pattern: `^(a|b${index})+$(` }]),
      );
      const json = { type: 'object', properties };
      return repeat(attacker, loop, () =>
        posted('/ai', { messages: [{ role: 'user', content: 'x' }], json }, asUser(attacker)),
      );
    },
  },
  uploads: {
    what: 'uploads that never end',
    run(attacker, loop) {
      const headers = `Authorization: Bearer ${attacker.tenant.userToken}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 500000\r\n`;
      const body = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nstart';
      const call = { method: 'POST', path: '/storage/upload', headers, body };
      return often(5, loop, () => openCall(attacker, call, loop.signal, countAnswer(loop)));
    },
  },
  credentials: {
    what: 'made-up tokens and projects',
    run: (attacker, loop) =>
      repeat(attacker, loop, (turn) =>
        turn % 2 === 0
          ? { path: `${new URL(attacker.tenant.base).origin}/api/runtime/${randomUUID()}/db/x` }
          : {
              path: '/db/x',
              init: { headers: { authorization: `Bearer bk_${randomBytes(24).toString('hex')}` } },
            },
      ),
  },
  // The last: sessions of more than ten minutes have a reserved part by then.
  budget: {
    what: "accounts in the neighbour's own project that spend its limit",
    run: (attacker, loop) =>
      repeat(attacker, loop, () => ({
        path: `${attacker.victim.base}/db/things?limit=1`,
        init: { headers: { authorization: `Bearer ${attacker.victim.userToken}` } },
      })),
  },
};
