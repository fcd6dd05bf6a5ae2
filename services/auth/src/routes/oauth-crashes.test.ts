import { anonymous, type ServiceUnderTest, serveForTest } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createOauthBed, locationOf, newVerifier, type OauthBed } from '../testing/oauth-bed.ts';

describe('a crash on the way back from a provider', () => {
  let bed: OauthBed;
  let another: ServiceUnderTest;
  beforeAll(async () => {
    bed = await createOauthBed();
    another = await serveForTest(bed.another().app, bed.clock.now);
    await bed.ownerDatabase.query(
      `CREATE FUNCTION crash() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'crash'; END $$`,
    );
  });
  afterAll(async () => {
    await another.stop();
    await bed.close();
  });

  const during = async <T>(table: string, work: () => Promise<T>): Promise<T> => {
    await bed.ownerDatabase.query(
      `CREATE TRIGGER crashing BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION crash()`,
    );
    return work().finally(() => bed.ownerDatabase.query(`DROP TRIGGER crashing ON ${table}`));
  };
  const count = async (table: string) => {
    const [row] = await bed.database.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM ${table}`,
    );
    return row?.n;
  };
  const comes = (subject: string) => {
    const person = { email: `${subject}@example.org`, email_verified: true };
    bed.provider.people.set(subject, person);
    bed.provider.signsInAs = subject;
  };

  it('between the answer and the token loses nothing: another process takes the code', async () => {
    comes('between');
    const { code, verifier } = await bed.travel();
    const identity = anonymous();
    const answer = await another.call('POST', '/auth/oauth/token', {
      identity,
      body: { code, verifier },
    });
    expect(answer).toMatchObject({ status: 200, body: { isNew: true } });
    expect((await bed.exchange({ code, verifier })).body.code).toBe('invalid_link');
  });

  it.each(['users', 'identities', 'sessions', 'sign_in_events', 'outbox'])(
    'while %s are written leaves the code good, and half of nothing',
    async (table) => {
      const subject = `half-${table.replace('_', '-')}`;
      comes(subject);
      const { code, verifier } = await bed.travel();
      const before = [await count('users'), await count('identities'), await count('sessions')];
      const crashed = await during(table, () => bed.exchange({ code, verifier }));
      expect(crashed.status).toBe(500);
      expect([await count('users'), await count('identities'), await count('sessions')]).toEqual(
        before,
      );
      const again = await bed.exchange({ code, verifier });
      expect(again).toMatchObject({ status: 200, body: { isNew: true } });
      expect(await count('sessions')).toBe((before[2] ?? 0) + 1);
    },
  );

  it('before the code is kept ends this way: the app is told, and the answer opens nothing again', async () => {
    comes('early');
    const back = await bed.provider.follow(locationOf(await bed.begin(newVerifier())));
    const crashed = await during('oauth_codes', () => bed.callback(back));
    expect(locationOf(crashed)).toContain('error=provider_failed');
    expect((await bed.callback(back)).status).toBe(400);
    expect((await bed.signInWith('early')).status).toBe(200);
  });
});
