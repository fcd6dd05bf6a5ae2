import { oauthRoutes } from '@backlot/contract';
import { asOwner, refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createOauthBed, locationOf, type OauthBed } from '../testing/oauth-bed.ts';

const client = { clientId: 'my-client', clientSecret: 'a secret of ours 1234' };
const path = '/platform/projects/testproject/auth-providers';

describe('the providers of a project', () => {
  let bed: OauthBed;
  beforeAll(async () => {
    bed = await createOauthBed({
      config: { operatorClients: { github: { clientId: 'of all', clientSecret: 'shared' } } },
    });
  });
  afterAll(() => bed.close());

  const asked = [
    [oauthRoutes.listSetProviders, ''],
    [oauthRoutes.setAuthProvider, '/discord'],
    [oauthRoutes.getAuthProvider, '/discord'],
    [oauthRoutes.deleteAuthProvider, '/discord'],
  ] as const;
  for (const [route, name] of asked)
    refusesStrangers(
      route,
      () => bed.http,
      () => ({ path: `/projects/testproject/auth-providers${name}`, body: client }),
    );

  const owner = (method: string, name = '', body?: object) =>
    bed.call(method, `${path}${name}`, { identity: asOwner(), ...(body && { body }) });
  const names = async () =>
    (await bed.call('GET', '/auth/providers')).body.items.map(({ name }: { name: string }) => name);

  it('are set without showing a secret again, which is stored sealed', async () => {
    const set = await owner('PUT', '/discord', client);
    expect(set).toMatchObject({
      status: 200,
      body: {
        name: 'discord',
        label: 'Discord',
        setBy: 'owner',
        isOn: true,
        clientId: 'my-client',
        hint: '…1234',
        issuer: 'https://discord.com',
        callbackUrl: 'http://localhost:8080/api/runtime/platform/auth/oauth/callback',
      },
    });
    expect((await owner('GET', '/discord')).body).toEqual(set.body);
    const rows = await bed.database.query<{ sealed: Buffer }>('SELECT * FROM auth_providers');
    for (const { sealed } of rows) expect(sealed.includes('a secret of ours')).toBe(false);
    expect(JSON.stringify(rows)).not.toContain('a secret of ours');
  });

  it('are the operator’s while the owner has set none, and none once they are off', async () => {
    expect(await names()).toContain('github');
    expect((await owner('GET', '/github')).body).toMatchObject({
      setBy: 'operator',
      clientId: null,
    });
    const location = new URL(locationOf(await bed.begin({ provider: 'github' })));
    expect(location.searchParams.get('client_id')).toBe('of all');
    expect(location.searchParams.get('prompt')).toBe('select_account');
    expect((await owner('PUT', '/github', { off: true })).body.isOn).toBe(false);
    expect(await names()).not.toContain('github');
    expect((await bed.begin({ provider: 'github' })).status).toBe(404);
    expect((await owner('DELETE', '/github')).status).toBe(200);
    expect(await names()).toContain('github');
  });

  it('end what was begun with a client that has gone', async () => {
    bed.provider.signsInAs = 'ada';
    const back = await bed.provider.follow(locationOf(await bed.begin()));
    const { issuer, clientSecret } = bed.provider;
    await bed.setProvider('local', { issuer, clientSecret, clientId: 'another' });
    const landing = new URL(locationOf(await bed.callback(back)));
    expect(landing.searchParams.get('error')).toBe('provider_failed');
    await bed.addProvider(bed.provider, 'local');
  });

  it.each<[string, string, object, string]>([
    ['without a client', '/google', {}, 'clientId'],
    ['without a secret', '/google', { clientId: 'x' }, 'clientSecret'],
    ['off and on', '/google', { ...client, off: true }, 'off'],
    ['of no issuer', '/mine', client, 'issuer'],
    [
      'of another issuer than its own',
      '/google',
      { ...client, issuer: 'https://a.example' },
      'issuer',
    ],
    [
      'of an issuer in a private network',
      '/mine',
      { ...client, issuer: 'https://10.0.0.1' },
      'issuer',
    ],
    ['of an issuer without https', '/mine', { ...client, issuer: 'http://a.example' }, 'issuer'],
    ['of an issuer with a query', '/mine', { ...client, issuer: 'https://a.example/?b' }, 'issuer'],
    ['under the name of a path', '/callback', client, 'name'],
    ['under a name of capitals', '/Mine', client, 'name'],
    [
      'of apple with a key file alone',
      '/apple',
      { clientId: 'x', clientSecret: '-----BEGIN PRIVATE KEY-----' },
      'keyId',
    ],
  ])('are refused %s', async (_what, name, body, field) => {
    const answer = await owner('PUT', name, body);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toContain(`"${field}"`);
  });

  it('are refused where nobody publishes what an OpenID provider does', async () => {
    const answer = await owner('PUT', '/mine', { ...client, issuer: `${bed.provider.issuer}/x` });
    expect(answer).toMatchObject({ status: 502, body: { code: 'upstream_failed' } });
  });

  it('of this machine are for developers alone', async () => {
    const closed = await createOauthBed().catch((error: unknown) => error);
    expect(closed).not.toBeInstanceOf(Error);
    await (closed as OauthBed).close();
    const refused = await createOauthBed({ config: { issuersOnLoopback: false } }).catch(String);
    expect(refused).toContain('must be https');
  });

  it('are twenty at most, also in parallel', async () => {
    const { issuer, clientId, clientSecret } = bed.provider;
    const answers = await Promise.all(
      Array.from({ length: 22 }, (_, n) =>
        owner('PUT', `/more-${n}`, { issuer, clientId, clientSecret }),
      ),
    );
    const { body } = await owner('GET');
    expect(body.items.filter(({ setBy }: { setBy: string }) => setBy === 'owner')).toHaveLength(20);
    expect(answers.some(({ body: { code } }) => code === 'limit_reached')).toBe(true);
  });
});
