import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrations, type Platform, readConfig, startPlatform } from '@backlot/all-in-one';
import { migrate } from '@backlot/database';
import { createFilledDatabase, until } from '@backlot/testing';
import { type Answer, type Api, apiAt } from '@backlot/testing/platform-api';

export const upstreamModes = ['in-process', 'http'] as const;
export type UpstreamMode = (typeof upstreamModes)[number];

/** Whether `pnpm test:long` runs. */
export const isLong = process.env.BACKLOT_LONG_TESTS !== undefined;

/** Of a journey that says nothing of the way between gateway and services: both in `pnpm test:long` alone. */
export const usualModes: readonly UpstreamMode[] = isLong ? upstreamModes : ['http'];

export interface Account {
  id: string;
  email: string;
  token: string;
}

export interface PlatformUnderTest extends Platform {
  databaseUrl: string;
  /** `/api/runtime/<project>`; the demo project unless another is named. */
  runtime(projectId?: string): Api;
  /** `/api/platform`. */
  control: Api;
  anywhere: Api;
  /** A new user of a project; of `platform` for a new owner. */
  signUp(projectId: string): Promise<Account>;
  /** A new project of a new owner. */
  newProject(): Promise<{ id: string; owner: Account; api: Api }>;
}

let accounts = 0;

const migrateAll = async (url: string) => {
  for (const { schema, directory } of migrations) await migrate({ url, schema, directory });
};

/** Refusals of one network address follow each other without a pause. */
const refusalClock = { now: Date.now, after: (_ms: number, answer: () => void) => answer() };

/** A whole platform on a database of its own. */
export const platformUnderTest = async (
  upstreams: UpstreamMode,
  settings: Record<string, string> = {},
): Promise<PlatformUnderTest> => {
  const database = await createFilledDatabase('platform', migrateAll);
  const dataDir = await mkdtemp(join(tmpdir(), 'backlot-journey-'));
  const config = readConfig({
    PORT: '0',
    BACKLOT_DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    BACKLOT_LOG_LEVEL: 'error',
    BACKLOT_ARGON2_MEMORY_KIB: '1024',
    // Each test has owners and users of its own, all of one address.
    BACKLOT_OWNER_SIGN_UPS_PER_IP_PER_HOUR: '1000',
    BACKLOT_SIGN_UPS_PER_IP_PER_HOUR: '1000',
    ...settings,
  });
  const platform = await startPlatform(
    { ...config, upstreams },
    { checkResponses: true, refusalClock },
  );
  const runtime = (projectId = 'demo') => apiAt(`${platform.url}/api/runtime/${projectId}`);
  const control = apiAt(`${platform.url}/api/platform`);

  const signUp = async (projectId: string): Promise<Account> => {
    const email = `person${++accounts}@example.org`;
    const { status, body } = await runtime(projectId)('POST', '/auth/signup', {
      body: { email, password: 'a good long password' },
    });
    if (status !== 201) throw new Error(`sign-up answered ${status}: ${JSON.stringify(body)}`);
    return { id: body.user.id, email, token: body.token };
  };

  return {
    ...platform,
    databaseUrl: database.url,
    runtime,
    control,
    anywhere: apiAt(platform.url),
    signUp,
    async newProject() {
      const owner = await signUp('platform');
      const { body } = await control('POST', '/projects', {
        token: owner.token,
        body: { name: 'Shop' },
      });
      return { id: body.id, owner, api: runtime(body.id) };
    },
    async stop() {
      await platform.stop();
      await database.drop();
      await rm(dataDir, { recursive: true });
    },
  };
};

/** Waits for what an event changes on every gateway; without it a minute would pass. */
export const settled = (call: () => Promise<Answer>, status: number): Promise<Answer> =>
  until(
    async () => {
      const answer = await call();
      if (answer.status !== status) throw new Error(`It is ${answer.status}.`);
      return answer;
    },
    { timeoutMs: 25_000, what: `status ${status}` },
  );
