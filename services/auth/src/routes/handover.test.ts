import { oauthRoutes } from '@backlot/contract';
import type { IdentityProject } from '@backlot/identity';
import { anonymous, refusesStrangers, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  appOrigin,
  createOauthBed,
  newVerifier,
  type OauthBed,
  returnTo,
} from '../testing/oauth-bed.ts';
import { minuteMs, otherProject, type Person, platform } from '../testing/test-bed.ts';

const used = { status: 400, body: { code: 'invalid_link' } };

describe('a session that our page gives to the app', () => {
  let bed: OauthBed;
  let ada: Person;
  beforeAll(async () => {
    bed = await createOauthBed();
    ada = await bed.signUp();
  });
  afterAll(() => bed.close());

  refusesStrangers(
    oauthRoutes.handOverSession,
    () => bed.http,
    () => ({
      path: '/auth/handover',
      body: { returnTo, challenge: newVerifier().challenge },
    }),
  );

  const begin = async (person = ada, at = returnTo) => {
    const { verifier, challenge } = newVerifier();
    const { identity } = person;
    const body = { returnTo: at, challenge };
    const answer = await bed.call('POST', '/auth/handover', { identity, body });
    const code = answer.status === 200 ? new URL(answer.body.url).searchParams.get('code') : '';
    return { answer, verifier, code: code ?? '' };
  };
  const take = (
    { code, verifier }: { code: string; verifier: string },
    project: IdentityProject = testProject,
  ) =>
    bed.call('POST', '/auth/handover/token', {
      identity: anonymous({ project }),
      body: { code, verifier },
    });

  it('goes to the app by a code in its own address, and is the same session', async () => {
    const { answer, ...proof } = await begin();
    expect(answer.body.url).toMatch(
      /^https:\/\/app\.example\/welcome\?from=menu&code=[\w-]{43}#top$/,
    );
    expect(answer.body.url).not.toContain(ada.token);
    const taken = await take(proof);
    expect(taken).toMatchObject({ status: 200, body: { user: { id: ada.user.id } } });
    expect(bed.readIdentity(taken.body.token).sessionId).toBe(ada.sessionId);
  });

  it('is given once, to one of fifty who ask at the same time', async () => {
    const { code, verifier } = await begin();
    const answers = await Promise.all(Array.from({ length: 50 }, () => take({ code, verifier })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.find(({ status }) => status !== 200)).toMatchObject(used);
  });

  it('opens to nobody without the verifier, nor in another project, nor later, and to the newest code alone', async () => {
    const stolen = await begin();
    expect(await take({ code: stolen.code, verifier: newVerifier().verifier })).toMatchObject(used);
    expect(await take(stolen)).toMatchObject(used);

    const elsewhere = await begin();
    expect(await take(elsewhere, otherProject)).toMatchObject(used);
    expect((await take(elsewhere)).status).toBe(200);

    const first = await begin();
    const second = await begin();
    expect(await take(first)).toMatchObject(used);
    bed.clock.pass(minuteMs);
    expect(await take(second)).toMatchObject(used);
  });

  it('ends with the session', async () => {
    const eve = await bed.signUp();
    const { code, verifier } = await begin(eve);
    await bed.call('POST', '/auth/signout', { identity: eve.identity });
    expect(await take({ code, verifier })).toMatchObject(used);
    expect((await begin(eve)).answer.status).toBe(401);
  });

  it.each([
    ['https://evil.example/', 'allowedOrigins'],
    [`${appOrigin}.evil.example/`, 'allowedOrigins'],
    ['javascript:alert(1)', 'absolute http(s) address'],
    ['https://user:pass@app.example/', 'credentials'],
  ])('leads nowhere but to the app: %s', async (at, words) => {
    const { answer } = await begin(ada, at);
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(words)]);
    const path = `/auth/handover?returnTo=${encodeURIComponent(at)}`;
    const checked = await bed.call('GET', path, { identity: anonymous() });
    expect([checked.status, checked.body.error]).toEqual([400, expect.stringContaining(words)]);
  });

  it('leads owners to pages of the installation alone', async () => {
    const check = (at: string) =>
      bed.call('GET', `/auth/handover?returnTo=${encodeURIComponent(at)}`, {
        identity: anonymous({ project: platform }),
      });
    expect((await check(`${bed.config.publicUrl}/console/`)).status).toBe(200);
    expect((await check(`${appOrigin}/`)).status).toBe(400);
  });
});
