import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { apiAt } from '@backlot/testing/platform-api';
import { fetchFrom, from } from './addresses.ts';
import { checked, grantCredits, password, signUp, type Tenant, upload } from './tenants.ts';

export const operations = ['get', 'create', 'list', 'sign-in', 'thumbnail', 'ai'] as const;
export type Operation = (typeof operations)[number];

/** Milliseconds of each call, and why some were refused or failed, such as "503 overloaded". */
export interface Seen {
  times: number[];
  failures: string[];
}

/** As "3 (503 overloaded: 2, ECONNRESET: 1)". */
export const listFailures = (failures: readonly string[]) => {
  const counts = new Map<string, number>();
  for (const failure of failures) counts.set(failure, (counts.get(failure) ?? 0) + 1);
  const kinds = [...counts].map(([failure, count]) => `${failure}: ${count}`).join(', ');
  return failures.length === 0 ? '0' : `${failures.length} (${kinds})`;
};

interface Call {
  method?: 'POST';
  url: string;
  body?: unknown;
  isSignedIn?: boolean;
}

/** Below the 21st of a core that 20 equal tenants leave. */
const perSecond: Record<Operation, number> = {
  get: 30,
  create: 10,
  list: 10,
  'sign-in': 0.5,
  thumbnail: 1,
  ai: 5,
};

/** Sign-ins of one account from one address are bounded: 200 in 15 minutes. */
const accounts = 30;

const patienceMs = 20_000;

/** The neighbour whom nobody may harm: it calls at a steady rate, as an app with some visitors does. */
export const createVictim = async (
  tenant: Tenant,
  picture: Uint8Array<ArrayBuffer>,
  operatorToken: string,
) => {
  const { base, projectId, userToken, address } = tenant;
  const call = apiAt(base, fetchFrom(address));
  const agent = new Agent({ keepAlive: true, maxSockets: 64, ...from(address) });
  await grantCredits(tenant, operatorToken);
  const pictureUrl = await upload(tenant, picture);
  const wide = { perCaller: 100_000, perProject: 100_000 };
  // Its limits of reads and writes for the whole project stay the default: they are what an attacker may spend.
  const limits = {
    read: { perCaller: 12_000, perProject: 12_000 },
    write: { perCaller: 6000, perProject: 6000 },
    ai: wide,
  };
  const control = apiAt(`${new URL(base).origin}/api/platform`);
  const set = await control('PUT', `/projects/${projectId}/limits`, {
    token: operatorToken,
    body: limits,
  });
  checked(200, set);
  const data = { title: 'One of many', state: 'open', number: 42, text: 'x'.repeat(500) };
  const options = { token: userToken, body: { data } };
  const ids: string[] = [];
  for (let record = 0; record < 100; record++)
    ids.push(String(checked(201, await call('POST', '/db/things', options)).id));
  const emails: string[] = [];
  for (let account = 0; account < accounts; account++)
    emails.push((await signUp(base, address)).email);

  const calls: Record<Operation, (turn: number) => Call> = {
    get: (turn) => ({ url: `${base}/db/things/${ids[turn % ids.length]}` }),
    create: () => ({ method: 'POST', url: `${base}/db/things`, body: { data }, isSignedIn: true }),
    list: () => ({ url: `${base}/db/things?limit=20`, isSignedIn: true }),
    'sign-in': (turn) => ({
      method: 'POST',
      url: `${base}/auth/signin`,
      body: { email: emails[turn % emails.length], password },
    }),
    thumbnail: (turn) => ({ url: `${pictureUrl}?width=${16 + (turn % 4000)}` }),
    ai: () => ({
      method: 'POST',
      url: `${base}/ai`,
      body: { messages: [{ role: 'user', content: 'Hello' }] },
      isSignedIn: true,
    }),
  };

  const send = ({ method, url, body, isSignedIn }: Call) =>
    new Promise<{ failure: string | undefined; ms: number }>((resolve) => {
      const startedAt = performance.now();
      const done = (failure?: string) => resolve({ failure, ms: performance.now() - startedAt });
      const text = body === undefined ? '' : JSON.stringify(body);
      const headers = {
        ...(isSignedIn && { authorization: `Bearer ${userToken}` }),
        ...(text && { 'content-type': 'application/json', 'content-length': text.length }),
      };
      const req = request(url, { agent, method: method ?? 'GET', headers }, (res) => {
        const status = res.statusCode ?? 0;
        const isGood = status >= 200 && status < 300;
        let answer = '';
        res.on('data', (chunk) => {
          if (!isGood) answer += chunk;
        });
        res.once('close', () => {
          if (!res.complete) done('broke off');
          else done(isGood ? undefined : `${status} ${/"code":"(\w+)"/.exec(answer)?.[1]}`);
        });
      });
      req.setTimeout(patienceMs, () => req.destroy(new Error('no answer')));
      req.once('error', (error: NodeJS.ErrnoException) => done(error.code ?? error.message));
      req.end(text);
    });

  const turns = new Map<Operation, number>();
  const keepCalling = async (operation: Operation, seconds: number): Promise<Seen> => {
    const seen: Seen = { times: [], failures: [] };
    const underWay: Promise<void>[] = [];
    const count = async (turn: number) => {
      const { failure, ms } = await send(calls[operation](turn));
      seen.times.push(ms);
      if (failure !== undefined) seen.failures.push(failure);
    };
    for (let sent = 0; sent < seconds * perSecond[operation]; sent++) {
      if (sent > 0) await pause(1000 / perSecond[operation]);
      const turn = turns.get(operation) ?? 0;
      turns.set(operation, turn + 1);
      underWay.push(count(turn));
    }
    await Promise.all(underWay);
    return seen;
  };

  return {
    /** A call that failed has a time too: until it was refused. */
    async measure(seconds: number): Promise<Record<Operation, Seen>> {
      const all = await Promise.all(
        operations.map(async (name) => [name, await keepCalling(name, seconds)] as const),
      );
      return Object.fromEntries(all) as Record<Operation, Seen>;
    },
  };
};
