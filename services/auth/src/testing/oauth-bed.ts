import { createHash, randomBytes } from 'node:crypto';
import type { IdentityProject } from '@backlot/identity';
import { anonymous, asOwner, type TestAnswer, testProject } from '@backlot/testing';
import {
  createTestOpenIdProvider,
  type TestOpenIdProvider,
} from '@backlot/testing/open-id-provider';
import {
  createTestBed,
  otherProject,
  type Person,
  platform,
  type TestBed,
  type TestBedOptions,
} from './test-bed.ts';

export const appOrigin = 'https://app.example';
export const returnTo = `${appOrigin}/welcome?from=menu#top`;

export const newVerifier = () => {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
};

export interface Way {
  /** Name of the provider in the project; `local` unless stated. */
  provider?: string;
  project?: IdentityProject;
  returnTo?: string;
  mode?: 'redirect' | 'popup';
  verifier?: string;
  challenge?: string;
  ip?: string;
}

export interface OauthBed extends TestBed {
  provider: TestOpenIdProvider;
  /** Keeps a client at an issuer; answers what the owner sees. */
  setProvider(name: string, body: object, project?: IdentityProject): Promise<TestAnswer>;
  /** Names `another` provider in a project as well. */
  addProvider(another: TestOpenIdProvider, name: string, project?: IdentityProject): Promise<void>;
  begin(way?: Way): Promise<TestAnswer>;
  /** The provider's answer comes to us as the browser brings it. */
  callback(url: URL | string, method?: 'GET' | 'POST'): Promise<TestAnswer>;
  /** To the provider and back: what the app finds in its address. */
  travel(way?: Way): Promise<{ verifier: string; code: string; landing: URL }>;
  exchange(
    body: { code: string; verifier: string; [more: string]: unknown },
    by?: { project?: IdentityProject; identity?: Person['identity']; ip?: string },
  ): Promise<TestAnswer>;
  /** All of it, as somebody whom the provider knows so. */
  signInWith(subject: string, way?: Way & { identity?: Person['identity'] }): Promise<TestAnswer>;
}

/** Where the answer leads. */
export const locationOf = (answer: TestAnswer): string => {
  const location = answer.headers.get('location');
  if (location === null)
    throw new Error(`leads nowhere: ${answer.status} ${JSON.stringify(answer.body)}`);
  return location;
};

/** @param hasLocal whether the provider in this process is named in the test project, as `local` */
export const createOauthBed = async (
  options: TestBedOptions = {},
  { hasLocal = true } = {},
): Promise<OauthBed> => {
  const provider = await createTestOpenIdProvider();
  const config = { issuersOnLoopback: true, ...options.config };
  const bed = await createTestBed({ ...options, config });
  const settings = { allowedOrigins: [appOrigin] };
  for (const { id, number } of [testProject, otherProject, platform])
    bed.snapshots.set(id, { id, number, settings });

  const self: OauthBed = {
    ...bed,
    provider,
    setProvider: (name, body, project = testProject) =>
      bed.call('PUT', `/platform/projects/${project.id}/auth-providers/${name}`, {
        identity: asOwner({ project }),
        body,
      }),
    async addProvider(another, name, project) {
      const { issuer, clientId, clientSecret } = another;
      const set = await self.setProvider(name, { issuer, clientId, clientSecret }, project);
      if (set.status !== 200) throw new Error(`not set: ${JSON.stringify(set.body)}`);
      another.redirectUris.add(set.body.callbackUrl);
    },
    begin({ provider: name = 'local', project = testProject, ip = '192.0.2.1', ...way } = {}) {
      const query = new URLSearchParams({
        returnTo: way.returnTo ?? returnTo,
        challenge: way.challenge ?? newVerifier().challenge,
        ...(way.mode && { mode: way.mode }),
      });
      return bed.call('GET', `/auth/oauth/${name}?${query}`, {
        identity: anonymous({ project, ip }),
      });
    },
    callback(url, method = 'GET') {
      const { pathname, searchParams } = new URL(url);
      const path = pathname.replace('/api/runtime/platform', '');
      const identity = anonymous({ project: platform });
      if (method === 'GET') return bed.call('GET', `${path}?${searchParams}`, { identity });
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      return bed.call('POST', path, { identity, headers, body: String(searchParams) });
    },
    async travel(way = {}) {
      const made = newVerifier();
      const begun = await self.begin({ challenge: made.challenge, ...way });
      const back = await provider.follow(locationOf(begun));
      const landing = new URL(locationOf(await self.callback(back)));
      const code = landing.searchParams.get('code') ?? '';
      return { verifier: way.verifier ?? made.verifier, code, landing };
    },
    exchange: (
      { landing: _landing, ...body },
      { project = testProject, identity, ip = '192.0.2.1' } = {},
    ) =>
      bed.call('POST', '/auth/oauth/token', {
        identity: identity ?? anonymous({ project, ip }),
        body,
      }),
    async signInWith(subject, { identity, ...way } = {}) {
      provider.signsInAs = subject;
      const { code, verifier } = await self.travel(way);
      return self.exchange({ code, verifier }, { ...way, ...(identity && { identity }) });
    },
    async close() {
      await bed.close();
      await provider.stop();
    },
  };
  if (hasLocal) await self.addProvider(provider, 'local');
  return self;
};
