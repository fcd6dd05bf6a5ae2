import { oauthRoutes } from '@backlot/contract';
import { refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createOauthBed, newVerifier, type OauthBed } from '../testing/oauth-bed.ts';
import { goodPassword, otherProject, type Person } from '../testing/test-bed.ts';

const someId = '018f0000-0000-7000-8000-00000000cccc';

describe('accounts elsewhere', () => {
  let bed: OauthBed;
  beforeAll(async () => {
    bed = await createOauthBed();
  });
  afterAll(() => bed.close());

  const strangers = [
    [oauthRoutes.listIdentities, '/auth/identities'],
    [oauthRoutes.linkIdentity, '/auth/identities'],
    [oauthRoutes.unlinkIdentity, `/auth/identities/${someId}`],
  ] as const;
  for (const [route, path] of strangers)
    refusesStrangers(
      route,
      () => bed.http,
      () => ({ path, body: { code: 'x', verifier: newVerifier().verifier } }),
    );

  const list = async ({ identity }: Pick<Person, 'identity'>) =>
    (await bed.call('GET', '/auth/identities', { identity })).body.items;
  const link = async ({ identity }: Pick<Person, 'identity'>, subject: string) => {
    bed.provider.signsInAs = subject;
    const { code, verifier } = await bed.travel({ project: identity.project });
    return bed.call('POST', '/auth/identities', { identity, body: { code, verifier } });
  };
  const unlink = ({ identity }: Pick<Person, 'identity'>, id: string) =>
    bed.call('DELETE', `/auth/identities/${id}`, { identity });

  it('are linked while signed in, whatever address they have, and sign in from then on', async () => {
    const person = await bed.signUp();
    bed.provider.people.set('work', { email: 'work@example.org', email_verified: true });
    const linked = await link(person, 'work');
    expect(linked).toMatchObject({
      status: 201,
      body: { provider: 'local', issuer: bed.provider.issuer, email: 'work@example.org' },
    });
    expect(await list(person)).toEqual([linked.body]);
    const { body } = await bed.signInWith('work');
    expect(body).toMatchObject({ isNew: false, user: { id: person.user.id, email: person.email } });
    expect(body.user.emailVerified).toBe(false);
  });

  it('belong to one user: nobody links those of another', async () => {
    const [one, two] = [await bed.signUp(), await bed.signUp()];
    expect((await link(one, 'mine')).status).toBe(201);
    expect(await link(two, 'mine')).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect((await link(one, 'mine')).status).toBe(409);
    expect(await list(two)).toEqual([]);
    const [mine] = await list(one);
    expect((await unlink(two, mine.id)).status).toBe(404);
    const stranger = await bed.signUp({ project: otherProject });
    expect((await unlink(stranger, mine.id)).status).toBe(404);
    expect(await list(one)).toHaveLength(1);
  });

  it('are linked by the code once, also of many calls at the same time', async () => {
    const person = await bed.signUp();
    bed.provider.signsInAs = 'once';
    const { code, verifier } = await bed.travel();
    const { identity } = person;
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        bed.call('POST', '/auth/identities', { identity, body: { code, verifier } }),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(await list(person)).toHaveLength(1);
  });

  it('go, but not the last way of signing in, of two at the same time either', async () => {
    bed.provider.people.set('only', { email: 'only@example.org', email_verified: true });
    const { body } = await bed.signInWith('only');
    const person = { identity: bed.readIdentity(body.token) };
    const [first] = await list(person);
    expect(await unlink(person, first.id)).toMatchObject({ status: 409 });
    const second = await link(person, 'second');
    const answers = await Promise.all([first.id, second.body.id].map((id) => unlink(person, id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(await list(person)).toHaveLength(1);
    await bed.takeEvents();
    const email = 'only@example.org';
    await bed.call('POST', '/auth/forgot', { body: { email } });
    const token = await bed.mailedToken();
    await bed.call('POST', '/auth/reset', { body: { token, password: goodPassword } });
    const again = await bed.signIn({ email, password: goodPassword });
    const [left] = await list({ identity: bed.readIdentity(again.body.token) });
    const withPassword = { identity: bed.readIdentity(again.body.token) };
    expect((await unlink(withPassword, left.id)).status).toBe(200);
  });

  it('sign nobody in any more once the provider is not asked', async () => {
    bed.provider.people.set('gone', { email: 'gone@example.org', email_verified: true });
    const { body } = await bed.signInWith('gone');
    await bed.addProvider(bed.provider, 'second');
    const person = { identity: bed.readIdentity(body.token) };
    bed.provider.signsInAs = 'elsewhere';
    const { code, verifier } = await bed.travel({ provider: 'second' });
    const { identity } = person;
    await bed.call('POST', '/auth/identities', { identity, body: { code, verifier } });
    const [first] = await list(person);
    expect((await bed.setProvider('second', { off: true })).status).toBe(200);
    expect((await unlink(person, first.id)).status).toBe(409);
  });

  it('go with their user', async () => {
    const person = await bed.signUp();
    await link(person, 'erased');
    await bed.call('DELETE', '/auth/me', { identity: person.identity });
    const rows = await bed.database.query('SELECT FROM identities WHERE user_id = $1', [
      person.user.id,
    ]);
    expect(rows).toEqual([]);
  });
});
