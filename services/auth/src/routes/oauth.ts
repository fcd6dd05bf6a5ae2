import { ApiError, oauthRoutes, type ProjectSettings, platformProject } from '@backlot/contract';
import { type HtmlPage, pageRoute, type Redirect, route } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import type { Features } from '../features.ts';
import { signInByCode } from '../identities/sign-in-by-code.ts';
import { createAnswerPage } from '../oauth/answer-page.ts';
import type { ProviderAnswer } from '../oauth/open-id.ts';
import { checkMaySignUp, hasGuests } from '../sign-in/sign-up-rules.ts';

export const listAuthProviders = ({ providerClients, findRelyingParty }: Features) =>
  route(oauthRoutes.listAuthProviders, async ({ identity: { project }, header }) => {
    const { signUp = 'anyone', codes = true } = project.settings as ProjectSettings;
    const guests = hasGuests(project);
    // Where it can not be known there are none.
    const passkeys = await findRelyingParty(project, header('origin')).then(
      () => true,
      () => false,
    );
    return {
      body: {
        items: await providerClients.listOn(project.number),
        hasMore: false,
        nextCursor: null,
        ways: { signUp: signUp !== 'nobody' && signUp !== 'invited', codes, guests, passkeys },
      },
    };
  });

export const beginOauth = ({ oauth, attempts, counters }: Features) =>
  pageRoute(oauthRoutes.beginOauth, async ({ identity, params, query }) => {
    const { project, ip } = identity;
    const { returnTo, challenge, mode } = query;
    const counted = counters.oauthFrom(ip);
    const redirect = await attempts.countCalls(project.number, counted, () =>
      oauth.begin(identity, params.provider, { returnTo, challenge, isPopup: mode === 'popup' }),
    );
    return { redirect, redirectStatus: 302 };
  });

const finish = async (
  { oauth, config }: Features,
  { project, ip }: Identity,
  answer: ProviderAnswer,
  issuer?: string,
): Promise<HtmlPage | Redirect> => {
  if (project.id !== platformProject.id)
    throw new ApiError('not_found', 'Providers answer to the project "platform" alone.');
  const at = `${config.publicUrl}/api/runtime/platform/auth/oauth/callback`;
  const { pathname } = new URL(issuer === undefined ? at : `${at}/${encodeURIComponent(issuer)}`);
  const finished = await oauth.finish(ip, answer, pathname);
  return finished.isPopup ? createAnswerPage(finished) : { redirect: finished.url };
};

export const finishOauth = (features: Features) =>
  pageRoute(oauthRoutes.finishOauth, ({ identity, query }) => finish(features, identity, query));

export const finishOauthForm = (features: Features) =>
  pageRoute(oauthRoutes.finishOauthForm, ({ identity, body }) => finish(features, identity, body));

export const finishOwnOauth = (features: Features) =>
  pageRoute(oauthRoutes.finishOwnOauth, ({ identity, query, params }) =>
    finish(features, identity, query, params.issuer),
  );

export const exchangeOauthCode = (features: Features) =>
  route(oauthRoutes.exchangeOauthCode, async ({ body, identity }) => {
    const vouched = await features.flows.readCode(identity.project.number, body);
    const signedIn = await signInByCode(features, {
      identity,
      vouched,
      code: body.code,
      checkOpen: (email) =>
        checkMaySignUp(features, identity, { email, invitation: body.invitation }),
      invitation: body.invitation,
      deviceToken: body.deviceToken,
      merge: body.merge,
    });
    return { transact: async () => ({ body: await signedIn() }) };
  });
