import { ApiError, authRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import type { Features } from '../features.ts';
import {
  type NewCredential,
  readClientData,
  registrationOptions,
  type ShownCredential,
  signInOptions,
  verifyNew,
  verifyShown,
} from '../passkeys/credentials.ts';
import { requireRecentProof } from '../sign-in/recent-proof.ts';
import { sessionEnded } from '../users/refusals.ts';
import { requireAddress } from '../users/user-row.ts';
import { checkMaySetUp } from './factors.ts';

const defaultName = 'Passkey';
/** They ask the projects service. */
const asksProjects = { isSlow: true };

const wrongPasskey = () =>
  new ApiError('invalid_credentials', 'This passkey does not sign in here.');

/** Who may add one. @throws ApiError invalid_token, factor_first, forbidden */
const findOwner = async (features: Features, identity: Identity) => {
  const signedIn = await features.users.findBySession(identity);
  const { id, name } = signedIn.user;
  const email = requireAddress(signedIn.user);
  await checkMaySetUp(features, identity, signedIn);
  return { ...signedIn, user: { id, email, name } };
};

export const createPasskeyOptions = (features: Features) =>
  route(
    authRoutes.createPasskeyOptions,
    async ({ identity, header }) => {
      const { passkeys, challenges, findRelyingParty } = features;
      const { number } = identity.project;
      const owner = await findOwner(features, identity);
      requireRecentProof(owner);
      const { user } = owner;
      const party = await findRelyingParty(identity.project, header('origin'));
      const known = await passkeys.credentials(number, user.id);
      const challenge = challenges.give({
        does: 'register',
        projectNumber: number,
        userId: user.id,
        origin: party.origin,
      });
      return { body: registrationOptions({ party, challenge, user, known }) };
    },
    asksProjects,
  );

export const addPasskey = (features: Features) =>
  route(
    authRoutes.addPasskey,
    async ({ body, identity }) => {
      const { passkeys, challenges, findRelyingParty, users, factors, database } = features;
      const { signInEvents } = features;
      const { number } = identity.project;
      const { user, sessionId } = await findOwner(features, identity);
      const userId = user.id;
      const { challenge, origin } = readClientData(body.credential.response.clientDataJSON);
      const party = await findRelyingParty(identity.project, origin);
      const purpose = { does: 'register', projectNumber: number, userId, origin } as const;
      const credential = await verifyNew(body.credential as NewCredential, party, (given) =>
        challenges.isGood(given, purpose),
      );
      const refused = () =>
        new ApiError('invalid_body', '"credential": is not what the options asked for.', {
          hint: 'POST /auth/passkeys/options answers what navigator.credentials.create takes; it is good once, for 5 minutes.',
        });
      if (!credential) throw refused();
      return {
        transact: () =>
          database.transaction(async () => {
            await users.lock(number, userId);
            // A sign-in elsewhere, or the owner, may have ended the session meanwhile.
            await findOwner(features, identity);
            if (!(await challenges.use(number, challenge))) throw refused();
            const { name = defaultName } = body;
            const added = await passkeys.add(number, userId, {
              credential,
              host: party.host,
              name,
            });
            await factors.markSession(number, userId, sessionId);
            await signInEvents.add(identity, userId, { kind: 'passkey_added', detail: name });
            return { body: added };
          }),
      };
    },
    asksProjects,
  );

export const listPasskeys = ({ users, passkeys }: Features) =>
  route(authRoutes.listPasskeys, async ({ identity }) => {
    const { user } = await users.findBySession(identity);
    const items = await passkeys.list(identity.project.number, user.id);
    return { body: { items, hasMore: false, nextCursor: null } };
  });

export const renamePasskey = ({ users, passkeys }: Features) =>
  route(authRoutes.renamePasskey, async ({ params, body, identity }) => {
    const { user } = await users.findBySession(identity);
    return { body: await passkeys.rename(identity.project.number, user.id, params.id, body.name) };
  });

export const deletePasskey = ({ users, passkeys, waysIn, signInEvents, database }: Features) =>
  route(authRoutes.deletePasskey, async ({ params, identity }) => {
    const { number } = identity.project;
    const signedIn = await users.findBySession(identity);
    requireRecentProof(signedIn);
    const { user } = signedIn;
    await database.transaction(async () => {
      await users.lock(number, user.id);
      const name = await passkeys.remove(number, user.id, params.id);
      const account = await users.find(number, user.id);
      if (!account) throw sessionEnded();
      await waysIn.requireOne(number, account);
      await signInEvents.add(identity, user.id, { kind: 'passkey_removed', detail: name });
    });
    return { body: { ok: true as const } };
  });

export const createPasskeySignIn = ({ challenges, findRelyingParty }: Features) =>
  route(
    authRoutes.createPasskeySignIn,
    async ({ identity, header }) => {
      const { project } = identity;
      const party = await findRelyingParty(project, header('origin'));
      const challenge = challenges.give({
        does: 'sign-in',
        projectNumber: project.number,
        userId: null,
        origin: party.origin,
      });
      return { body: signInOptions(party, challenge) };
    },
    asksProjects,
  );

/** The passkey that the credential shows, with what its authenticator has counted; undefined where it does not hold. */
const findShown = async (
  { passkeys, challenges, findRelyingParty }: Features,
  { project }: Identity,
  shown: ShownCredential,
) => {
  const { number } = project;
  const { challenge, origin } = readClientData(shown.response.clientDataJSON);
  const party = await findRelyingParty(project, origin);
  const known = await passkeys.find(number, shown.id);
  if (known?.host !== party.host) return undefined;
  const { userHandle } = shown.response;
  const isOfUser = !userHandle || Buffer.from(userHandle, 'base64url').toString() === known.userId;
  if (!isOfUser) return undefined;
  const purpose = { does: 'sign-in', projectNumber: number, userId: null, origin } as const;
  const counter = await verifyShown(shown, known.credential, party, (given) =>
    challenges.isGood(given, purpose),
  );
  return counter === undefined ? undefined : { known, counter, challenge };
};

export const signInWithPasskey = (features: Features) =>
  route(
    authRoutes.signInWithPasskey,
    async ({ body, identity }) => {
      const { users, passkeys, challenges, attempts, counters, beginSession, database } = features;
      const { number } = identity.project;
      const found = await attempts.countFailures(number, counters.passkeys(identity.ip), () =>
        findShown(features, identity, body.credential as ShownCredential),
      );
      const account = found && (await users.find(number, found.known.userId));
      if (!account) throw wrongPasskey();
      const begun = await beginSession(identity, account, {
        method: 'passkey',
        merge: body.merge,
      });
      return {
        body: begun.body,
        commit: () =>
          database.transaction(async () => {
            // First, as whatever changes several rows of an account.
            await users.lock(number, account.id);
            const isGood =
              (await challenges.use(number, found.challenge)) &&
              (await passkeys.use(number, found.known.id, found.counter)) &&
              (await begun.commit());
            if (!isGood) throw wrongPasskey();
          }),
      };
    },
    asksProjects,
  );
