import { ApiError, type oauthRoutes, type RouteResponse } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { hashIp } from '../counters.ts';
import type { Features } from '../features.ts';
import { addressOfAnother } from '../guests/guests.ts';
import type { VouchedCode } from '../oauth/flows.ts';
import { isUpgraded } from '../sign-in/merges.ts';
import { sessionEnded } from '../users/refusals.ts';
import type { Account } from '../users/user-row.ts';

export interface CodeSignIn {
  identity: Identity;
  vouched: VouchedCode;
  code: string;
  /** @throws ApiError sign_up_closed */
  checkOpen: (email: string) => Promise<void>;
  /** The token of a mailed invitation. */
  invitation?: string | undefined;
  /** Of a device that may be remembered. */
  deviceToken?: string | undefined;
  /** What becomes of a guest who calls, where there is an account. */
  merge?: boolean | undefined;
}

interface Found {
  account: Account;
  isNew: boolean;
}

const noAddress = (label: string) =>
  new ApiError('conflict', `${label} names no e-mail address that this account could have.`, {
    hint: 'Sign in another way, and link it: POST /auth/identities.',
  });

const takenByAnother = (label: string) =>
  new ApiError('email_taken', 'An account with this e-mail address exists already.', {
    hint: `${label} has not verified the address. Sign in to the account as before, and link it: POST /auth/identities.`,
  });

/** Whose account it is by the address that the provider has verified: nobody else's word opens it. */
const joinByAddress = async (
  { users, proofs, identities, signInEvents }: Features,
  { identity, vouched, checkOpen }: CodeSignIn,
  found: Account,
): Promise<Found> => {
  const { number } = identity.project;
  if (!vouched.email_verified) {
    // Where nobody signs up it is not told either who has an account.
    await checkOpen(vouched.email ?? '');
    throw takenByAnother(vouched.label);
  }
  const locked = await users.lockAndRead(number, found.id);
  if (locked?.email !== vouched.email) throw sessionEnded();
  const isOwn = identity.caller === 'user' && identity.userId === locked.id;
  if (isOwn) await users.findBySession(identity);
  const { account } = await proofs.prove(number, locked, { isOwn });
  await identities.add(number, account.id, vouched);
  await signInEvents.add(identity, account.id, { kind: 'identity_linked', detail: vouched.label });
  return { account, isNew: false };
};

/** A guest who calls becomes it. */
const addAccount = async (
  { users, guests }: Features,
  identity: Identity,
  { email, name }: { email: string; name: string | null },
): Promise<Account> => {
  const { number } = identity.project;
  const guest = await guests.findCaller(identity);
  if (guest) return guests.upgrade(number, guest, { email, name, passwordHash: null });
  const made = users.create({ email, name, passwordHash: null, emailVerified: false });
  await users.add(number, made);
  return made;
};

const makeAccount = async (
  features: Features,
  { identity, vouched, checkOpen, invitation }: CodeSignIn,
  email: string,
): Promise<Found> => {
  const { proofs, identities, invites, links } = features;
  const { number } = identity.project;
  await checkOpen(email);
  const { name, email_verified: isVerified } = vouched;
  const made = await addAccount(features, identity, { email, name });
  if (invitation !== undefined) await invites.joinAs(number, made.id, invitation);
  await identities.add(number, made.id, vouched);
  if (!isVerified) {
    await links.send(identity, 'verify', { ...made, email });
    return { account: made, isNew: true };
  }
  const { account } = await proofs.prove(number, made, { isOwn: true });
  return { account, isNew: true };
};

/** Belongs into a transaction that has used the code up. */
const findOrMake = async (features: Features, signIn: CodeSignIn): Promise<Found> => {
  const { users, identities, proofs } = features;
  const { identity, vouched } = signIn;
  const { number } = identity.project;
  await identities.lock(number, vouched);
  const linked = await identities.find(number, vouched);
  if (linked) {
    const account = await users.lockAndRead(number, linked.user_id);
    // The link may have ended while the account was locked by whoever has proved the address.
    if (!account || !(await identities.noteUse(linked, vouched.email))) throw sessionEnded();
    const isProof = vouched.email_verified && vouched.email === account.email;
    if (account.email_verified || !isProof) return { account, isNew: false };
    const proven = await proofs.prove(number, account, { isOwn: true });
    return { account: proven.account, isNew: false };
  }
  const { email, label } = vouched;
  if (email === null) throw noAddress(label);
  const found = await users.findByEmail(number, email, hashIp(identity.ip));
  return found ? joinByAddress(features, signIn, found) : makeAccount(features, signIn, email);
};

/** Nobody's guest is left behind unsaid. @throws ApiError email_taken */
const checkGuest = async (
  { guests }: Features,
  { identity, merge }: CodeSignIn,
  { isNew }: Found,
): Promise<void> => {
  if (!isNew && merge === undefined && (await guests.findCaller(identity)))
    throw addressOfAnother();
};

/** Whether it will make an account, as far as it shows before. */
const isNewHere = async ({ users, identities }: Features, { identity, vouched }: CodeSignIn) => {
  const { number } = identity.project;
  if (vouched.email === null || (await identities.find(number, vouched))) return false;
  return !(await users.findByEmail(number, vouched.email, hashIp(identity.ip)));
};

/**
 * Signs in whom the provider has vouched for: an identity is issuer and subject. The code is used up with the
 * session, or not at all.
 * @returns what is to be done in the call's last writes
 * @throws ApiError too_many_attempts
 */
export const signInByCode = async (
  features: Features,
  signIn: CodeSignIn,
): Promise<() => Promise<RouteResponse<typeof oauthRoutes.exchangeOauthCode>>> => {
  const { attempts, counters, database, flows, signingKeys, beginSession } = features;
  const { identity, code } = signIn;
  const { number } = identity.project;
  // Without a key no session begins that nobody would have a token for.
  await signingKeys.signer();
  if (await isNewHere(features, signIn))
    await attempts.countCalls(number, counters.signUp(number, identity.ip), async () => {});
  return () =>
    database.transaction(async () => {
      await flows.useCode(number, code);
      const found = await findOrMake(features, signIn);
      const { account, isNew } = found;
      await checkGuest(features, signIn, found);
      const begun = await beginSession(identity, account, {
        method: 'oauth',
        detail: signIn.vouched.label,
        deviceToken: signIn.deviceToken,
        merge: isUpgraded(identity, found) ? undefined : signIn.merge,
      });
      if (!(await begun.commit())) throw sessionEnded();
      return 'token' in begun.body ? { ...begun.body, isNew } : begun.body;
    });
};
