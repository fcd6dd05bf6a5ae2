import { type Api, apiAt } from '@backlot/testing/platform-api';
import type { SoakShop } from './load.ts';
import type { SoakTarget } from './target.ts';

const password = 'a good long password';
const credits = 1_000_000;
const wide = { perCaller: 1_000_000, perProject: 1_000_000 };
const limits = { read: wide, write: wide, ai: wide, email: wide, upload: wide, payments: wide };

/** An owner with credits, and a project whose limits nobody meets. */
export const openShop = async (
  target: Pick<SoakTarget, 'gateways' | 'operatorToken'>,
  name: string,
): Promise<SoakShop & { said: string[] }> => {
  const [origin = ''] = target.gateways;
  const control: Api = apiAt(`${origin}/api/platform`);
  const need = async (...call: Parameters<Api>) => {
    const { status, body } = await control(...call);
    if (status >= 300) throw new Error(`${call[1]} answered ${status} ${JSON.stringify(body)}.`);
    return body;
  };
  const email = `${name}-${Date.now()}@example.org`;
  const signUp = await apiAt(`${origin}/api/runtime/platform`)('POST', '/auth/signup', {
    body: { email, password },
  });
  if (signUp.status !== 201) throw new Error(`The sign-up answered ${signUp.status}.`);
  const { token: owner, user } = signUp.body;
  const settings = { aiPerVisitorPerDay: 1_000_000, visitorCreditsPerDay: 1_000_000 };
  const { id } = await need('POST', '/projects', { token: owner, body: { name, settings } });
  const token = target.operatorToken;
  const grant = { ownerId: user.id, credits, reason: name };
  await need('POST', '/credits/grants', { token, body: grant });
  await need('PUT', `/projects/${id}/limits`, { token, body: limits });
  const { key } = await need('POST', `/projects/${id}/keys`, { token: owner, body: { name } });
  return { id, owner, key, said: [email, password, owner, key] };
};
