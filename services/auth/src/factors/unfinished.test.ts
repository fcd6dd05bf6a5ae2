import { anonymous, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createAuthenticator } from '../testing/authenticator.ts';
import { setUpApp } from '../testing/authenticator-app.ts';
import { createTestBed, type Person, type TestBed } from '../testing/test-bed.ts';

describe('a sign-in that dies in the middle', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  /** Lets the call go until it has to wait for what `table` holds of the person, then takes its connection away. */
  const dieAt = async (table: string, person: Person, call: () => Promise<{ status: number }>) => {
    const [status] = await bed.database.transaction(async () => {
      const condition = table === 'users' ? 'id' : 'user_id';
      await bed.database.query(
        `SELECT FROM ${table} WHERE project_number = 1001 AND ${condition} = $1 FOR UPDATE`,
        [person.user.id],
      );
      const dying = call();
      await until(async () => {
        const killed = await bed.ownerDatabase.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return killed.length > 0;
      });
      return [(await dying).status];
    });
    return status;
  };

  it.each(['users', 'factor_tokens', 'factors'])(
    'at the row in %s has used no code up',
    async (table) => {
      const person = await bed.signUp();
      const { app } = await setUpApp(bed, person);
      const asked = await bed.signIn(person);
      const body = { factorToken: asked.body.factorToken, code: app.nextCode() };
      const verify = () =>
        bed.call('POST', '/auth/factors/verify', { identity: anonymous(), body });
      expect(await dieAt(table, person, verify)).toBeGreaterThanOrEqual(500);
      expect((await verify()).status).toBe(200);
      expect((await verify()).status).toBe(400);
    },
  );

  it.each(['users', 'recovery_codes'])(
    'at the row in %s has used no recovery code up',
    async (table) => {
      const person = await bed.signUp();
      const { recoveryCodes } = await setUpApp(bed, person);
      const asked = await bed.signIn(person);
      const body = { factorToken: asked.body.factorToken, code: recoveryCodes[0] };
      const verify = () =>
        bed.call('POST', '/auth/factors/verify', { identity: anonymous(), body });
      expect(await dieAt(table, person, verify)).toBeGreaterThanOrEqual(500);
      expect((await verify()).status).toBe(200);
    },
  );

  it.each(['users', 'passkeys'])('at the row in %s has answered no challenge', async (table) => {
    const person = await bed.signUp();
    const device = createAuthenticator();
    const { identity } = person;
    const made = await bed.call('POST', '/auth/passkeys/options', { identity });
    const credential = device.create(made.body);
    await bed.call('POST', '/auth/passkeys', { identity, body: { credential } });
    const { body } = await bed.call('POST', '/auth/passkeys/sign-in/options');
    const shown = device.get(body);
    const signIn = () =>
      bed.call('POST', '/auth/passkeys/sign-in', {
        identity: anonymous(),
        body: { credential: shown },
      });
    expect(await dieAt(table, person, signIn)).toBeGreaterThanOrEqual(500);
    expect((await signIn()).status).toBe(200);
    expect((await signIn()).status).toBe(401);
  });
});
