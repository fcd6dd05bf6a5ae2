import { ApiError, authRoutes, type ProjectSettings, type RouteBody } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import type { MailedProof } from '../codes/codes.ts';
import { maskAddress } from '../codes/mask-address.ts';
import { hashIp } from '../counters.ts';
import type { Features } from '../features.ts';
import { invalidLink } from '../links/links.ts';
import { enterByAddress } from '../sign-in/enter-by-address.ts';
import { isUpgraded } from '../sign-in/merges.ts';
import { checkMaySignUp, type Newcomer } from '../sign-in/sign-up-rules.ts';

const wrongCode = () =>
  new ApiError('invalid_credentials', 'The code is wrong, was used, or has expired.', {
    hint: 'A code is good for 10 minutes and five guesses. POST /auth/code mails a new one.',
  });

/** @throws ApiError forbidden */
const checkOn = ({ settings }: Identity['project']): void => {
  if ((settings as ProjectSettings).codes !== false) return;
  throw new ApiError('forbidden', 'This app has no sign-in by code.', {
    hint: 'The owner of the app has set "codes" to false.',
  });
};

const maySignUp = (features: Features, identity: Identity, newcomer: Newcomer): Promise<boolean> =>
  checkMaySignUp(features, identity, newcomer).then(
    () => true,
    (error: unknown) => {
      if (error instanceof ApiError && error.code === 'sign_up_closed') return false;
      throw error;
    },
  );

/** An address that has no account and may get none is mailed nothing, silently. */
export const requestCode = (features: Features) =>
  route(authRoutes.requestCode, async ({ body, identity }) => {
    const { users, codes, attempts, counters } = features;
    const { project, ip } = identity;
    const { email } = body;
    checkOn(project);
    await attempts.countCalls(project.number, counters.codeCalls(email, ip), async () => {
      const isOpen = await maySignUp(features, identity, body);
      const user = await users.findByEmail(project.number, email, hashIp(ip));
      const name = user?.email_verified ? user.name : null;
      await codes.send(identity, { email, name }, user !== undefined || isOpen);
    });
    return { body: { ok: true as const } };
  });

/** @throws ApiError invalid_credentials, invalid_link, too_many_attempts */
const checkProof = async (
  { codes, attempts, counters }: Features,
  { project, ip }: Identity,
  { email = '', code = '', token }: RouteBody<typeof authRoutes.verifyCode>,
): Promise<{ email: string; proof: MailedProof }> => {
  if (token !== undefined) {
    const address = await codes.findAddress(project.number, token);
    if (address === undefined || (email !== '' && email !== address)) throw invalidLink();
    return { email: address, proof: { token } };
  }
  const counted = counters.codeGuesses(email, ip);
  const isRight = await attempts.countFailures(
    project.number,
    counted,
    async () => (await codes.isRight(project.number, email, code)) || undefined,
  );
  if (!isRight) throw wrongCode();
  return { email, proof: { email, code } };
};

/** A new account counts as a sign-up does. @throws ApiError too_many_attempts */
const countSignUp = async (
  { users, attempts, counters }: Features,
  { project, ip }: Identity,
  email: string,
) => {
  if (await users.findByEmail(project.number, email, hashIp(ip))) return;
  await attempts.countCalls(project.number, counters.signUp(project.number, ip), async () => {});
};

export const showSignInLink = ({ codes }: Features) =>
  route(authRoutes.showSignInLink, async ({ body, identity: { project } }) => {
    checkOn(project);
    const email = await codes.findAddress(project.number, body.token);
    if (email === undefined) throw invalidLink();
    return { body: { email: maskAddress(email) } };
  });

export const verifyCode = (features: Features) =>
  route(
    authRoutes.verifyCode,
    async ({ body, identity }) => {
      const { codes, signingKeys, beginSession, database } = features;
      const { project } = identity;
      checkOn(project);
      // Without a key no session begins that nobody would have a token for.
      await signingKeys.signer();
      const { email, proof } = await checkProof(features, identity, body);
      await countSignUp(features, identity, email);
      const refuse = () => ('token' in proof ? invalidLink() : wrongCode());
      return {
        transact: () =>
          database.transaction(async () => {
            const used = await codes.use(project.number, proof);
            if (!used) throw refuse();
            const isOwnMail = !('token' in proof) || used.asked_by === identity.userId;
            const entered = await enterByAddress(features, identity, { ...body, email, isOwnMail });
            const { account, isNew } = entered;
            const begun = await beginSession(identity, account, {
              method: 'code',
              deviceToken: body.deviceToken,
              merge: isUpgraded(identity, entered) ? undefined : body.merge,
            });
            if (!(await begun.commit())) throw refuse();
            return { body: 'token' in begun.body ? { ...begun.body, isNew } : begun.body };
          }),
      };
    },
    { isSlow: true },
  );
