import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { type PlatformUnderTest, platformUnderTest } from './platform-under-test.ts';

const migrateMain = fileURLToPath(import.meta.resolve('@backlot/all-in-one/migrate-main'));
const opsMain = fileURLToPath(new URL('../../ops/src/main.ts', import.meta.url));

describe('a migration beside a platform at work', () => {
  let platform: PlatformUnderTest;
  let user: pg.Client;
  beforeAll(async () => {
    platform = await platformUnderTest('in-process');
    const options = { connectionString: platform.databaseUrl, application_name: 'a session' };
    user = new pg.Client(options);
    await user.connect();
  });
  afterAll(async () => {
    await user.end();
    await platform.stop();
  });

  const run = (main: string, ...args: string[]) =>
    promisify(execFile)(process.execPath, [main, ...args], {
      env: {
        PATH: process.env.PATH ?? '',
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        DATABASE_URL: platform.databaseUrl,
      },
    });
  const recordsStatus = async () => {
    const { items } = JSON.parse((await run(opsMain, 'migrate-status')).stdout);
    return items.find(({ schema }: { schema: string }) => schema === 'records');
  };

  it('fails soon where somebody holds a table, names it and them, and no call fails meanwhile', async () => {
    const { api, owner } = await platform.newProject();
    await user.query(`DELETE FROM records.migrations WHERE name >= '0045'`);
    expect((await recordsStatus()).pending).toContain('0045_emptied_log');
    await user.query('BEGIN; LOCK TABLE records.log_clock IN ACCESS SHARE MODE');

    let hasEnded = false;
    const migrating = run(migrateMain)
      .catch((error: unknown) => error as { code: number; stderr: string })
      .finally(() => {
        hasEnded = true;
      });
    const statuses: number[] = [];
    await until(
      async () => {
        const body = { data: { text: 'meanwhile' } };
        statuses.push((await api('POST', '/db/notes', { token: owner.token, body })).status);
        statuses.push((await api('GET', '/db/notes', { token: owner.token })).status);
        return hasEnded;
      },
      { timeoutMs: 60_000 },
    );
    expect(new Set(statuses)).toEqual(new Set([200, 201]));
    expect(await migrating).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^records\.log_clock is in use by process \d+ .*a session as/),
    });

    await user.query('COMMIT');
    await run(migrateMain, '--wait', '60');
    const { pending, applied, unknown } = await recordsStatus();
    expect({ pending, unknown }).toEqual({ pending: [], unknown: [] });
    expect(applied.at(-1)).toMatchObject({ release: expect.stringMatching(/^\d+\.\d+\.\d+$/) });
  });

  it('says what is wrong with an option', async () => {
    await expect(run(migrateMain, '--wait', 'long')).rejects.toMatchObject({
      code: 1,
      stderr: '--wait takes seconds from 1 to 99999.\n',
    });
  });
});
