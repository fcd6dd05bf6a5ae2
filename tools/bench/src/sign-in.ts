import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@backlot/local-servers';
import { apiAt } from '@backlot/testing/platform-api';
import { median } from './load/load.ts';
import { startPlatform } from './platform.ts';
import { liftLimits } from './prepare.ts';

const port = 18_080;
const origin = `http://localhost:${port}`;
const rounds = 150;
/** Signs up at a time; each costs a hash. */
const atOnce = 2;
const password = 'a good long password';

/** One caller an account, from a network of its own, so that no bound on failures is met. */
const toAddress = (n: number) => `10.${n % 200}.${Math.floor(n / 200)}.1`;
const known = (n: number) => `known${n}@example.org`;
const unknown = (n: number) => `nobody${n}@example.org`;

/** Bodies of the calls that must not tell whether an address has an account. */
const calls: Record<string, (email: string) => object> = {
  '/auth/signin': (email) => ({ email, password: 'another long password' }),
  '/auth/code': (email) => ({ email }),
  '/auth/code/verify': (email) => ({ email, code: '123456' }),
  '/auth/forgot': (email) => ({ email }),
  '/auth/change-email': (email) => ({ email, password }),
};
/** Of the accounts, for what takes a session. */
const tokens: string[] = [];

const signUp = async () => {
  const api = apiAt(`${origin}/api/runtime/demo`);
  let next = 0;
  const one = async () => {
    while (next < rounds) {
      const n = next++;
      const { status, body } = await api('POST', '/auth/signup', {
        headers: { 'x-forwarded-for': toAddress(n) },
        body: { email: known(n), password },
      });
      if (status !== 201) throw new Error(JSON.stringify(body));
      tokens[n] = body.token;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
};

/** How long each answer takes, in milliseconds, in turn with the other kind of address. */
const compareCalls = async (path: string, toBody: (email: string) => object) => {
  const api = apiAt(`${origin}/api/runtime/demo`);
  const times = { known: [] as number[], unknown: [] as number[] };
  const answers = new Set<string>();
  const call = async (kind: 'known' | 'unknown', n: number) => {
    const email = kind === 'known' ? known(n) : unknown(n);
    const token = path === '/auth/change-email' ? tokens[(n + 1) % rounds] : undefined;
    // Of another network than the one that signed up, which the account knows.
    const headers = { 'x-forwarded-for': `172.${16 + (n % 16)}.${n}.${kind === 'known' ? 1 : 2}` };
    const beganAt = performance.now();
    const { status, body } = await api('POST', path, {
      headers,
      body: toBody(email),
      ...(token !== undefined && { token }),
    });
    times[kind].push(performance.now() - beganAt);
    answers.add(`${status} ${body.code ?? ''}`);
  };
  for (let n = 0; n < rounds; n++) {
    const [first, second] =
      n % 2 === 0 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const);
    await call(first, n);
    await call(second, n);
  }
  const quarter = Math.floor(rounds / 4);
  const spread = (all: number[]) => {
    const sorted = [...all].sort((a, b) => a - b);
    return (sorted[rounds - quarter] ?? 0) - (sorted[quarter] ?? 0);
  };
  const [mine, others] = [median(times.known), median(times.unknown)];
  console.log(
    `${path}: ${mine.toFixed(1)} ms with an account, ${others.toFixed(1)} without: ${(mine / others).toFixed(2)} (half of all within ${Math.max(spread(times.known), spread(times.unknown)).toFixed(1)} ms; answers: ${[...answers].join(', ')})`,
  );
};

/**
 * Whether the time of an answer tells who has an account: addresses with one and without, in turn.
 * @param paths of the calls; all unless stated
 */
export const benchSignIn = async (paths: readonly string[]): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'backlot-sign-in-'));
  const postgres = await startPostgres({ dataDir: join(folder, 'postgres') });
  const { program } = await startPlatform(port, join(folder, 'platform'), postgres.url, {
    settings: { BACKLOT_TRUSTED_PROXIES: '1' },
  });
  try {
    await liftLimits(origin, 'demo');
    await signUp();
    for (const [path, toBody] of Object.entries(calls))
      if (paths.length === 0 || paths.includes(path)) await compareCalls(path, toBody);
  } finally {
    await program.stop();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
};
