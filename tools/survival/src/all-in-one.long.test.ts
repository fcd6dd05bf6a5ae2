import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '@backlot/local-servers';
import { until } from '@backlot/testing';
import { apiAt } from '@backlot/testing/platform-api';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startKeptPostgres } from './kept-postgres.ts';
import { type OsProcess, startProcess, type Victim } from './os-process.ts';
import { randomFrom } from './random.ts';
import { isWhole } from './stack-under-test.ts';
import { proveStreams } from './streams/prove.ts';

const seed = Number(process.env.BACKLOT_SURVIVAL_SEED ?? Date.now() % 1_000_000);
const wide = { perCaller: 1_000_000, perProject: 1_000_000 };

describe(`the platform in one process (seed ${seed})`, () => {
  let folder: string;
  let postgres: Victim & { url: string; stop(): Promise<void> };
  let platform: OsProcess;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'backlot-survival-'));
    postgres = await startKeptPostgres(join(folder, 'postgres'));
    platform = await startProcess({
      entry: new URL('../../all-in-one/src/main.ts', import.meta.url),
      port: await findFreePort(23_000 + Math.floor(Math.random() * 4_000)),
      logFile: join(folder, 'platform.log'),
      env: {
        BACKLOT_LOG_LEVEL: 'warn',
        BACKLOT_DATA_DIR: join(folder, 'data'),
        BACKLOT_OPERATOR_TOKEN: randomBytes(24).toString('hex'),
        BACKLOT_ARGON2_MEMORY_KIB: '1024',
        BACKLOT_OWNER_VERIFICATION: 'off',
        BACKLOT_DEFAULT_LIMITS: JSON.stringify({ read: wide, write: wide }),
        DATABASE_URL: postgres.url,
      },
    });
    await until(() => isWhole(platform.url), { what: 'the platform' });
  }, 300_000);
  afterAll(async () => {
    await platform?.stop();
    await postgres?.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  it('tells all that was written by its streams, once, whatever is killed', async () => {
    const body = { email: 'owner@example.org', password: 'a good long password' };
    const signUp = await apiAt(`${platform.url}/api/runtime/platform`)('POST', '/auth/signup', {
      body,
    });
    expect(signUp.status).toBe(201);
    const { token } = signUp.body;
    const control = apiAt(`${platform.url}/api/platform`);
    const project = await control('POST', '/projects', { token, body: { name: 'Shop' } });
    const { id } = project.body;
    const made = await control('POST', `/projects/${id}/keys`, {
      token,
      body: { name: 'survival' },
    });
    const story = await proveStreams(
      {
        origins: [platform.url],
        projectId: id,
        key: made.body.key,
        owner: { token },
        victims: { platform, postgres },
        isWhole,
      },
      { writers: 30, pauseMs: 200, followers: 20, rounds: 3 },
      randomFrom(seed),
    );
    console.info(story);
  }, 900_000);
});
