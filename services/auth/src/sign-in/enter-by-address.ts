import { ApiError } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import type { Features } from '../features.ts';
import { addressOfAnother } from '../guests/guests.ts';
import type { Account } from '../users/user-row.ts';
import { checkMaySignUp, type Newcomer } from './sign-up-rules.ts';

export interface ProvenAddress extends Newcomer {
  /** Of a new account. */
  name?: string | undefined;
  /** What becomes of a guest who calls, where the address has an account. */
  merge?: boolean | undefined;
  /** Whether the caller has asked for what has shown it, or has read it: else somebody may have sent it to them. */
  isOwnMail: boolean;
}

const askedElsewhere = () =>
  new ApiError(
    'conflict',
    'Somebody else has asked for this link: it makes no user of the guest.',
    {
      hint: 'The code of the same mail does, as "email" and "code". "merge": false signs in and leaves the guest alone.',
    },
  );

interface Entered {
  account: Account;
  isNew: boolean;
}

/** The account of the address, locked. */
const lockByEmail = async ({ users }: Features, project: number, email: string) => {
  const found = await users.findByEmail(project, email, Buffer.alloc(0));
  const locked = found && (await users.lockAndRead(project, found.id));
  return locked?.email === email ? locked : undefined;
};

/** Whether who has shown that the address is theirs calls with a session of its account. */
const isOwnSession = async ({ users }: Features, identity: Identity, { id }: Account) => {
  if (identity.caller !== 'user' || identity.userId !== id) return false;
  return users.findBySession(identity).then(
    () => true,
    () => false,
  );
};

const addAccount = async (
  features: Features,
  { project }: Identity,
  { email, name = null }: { email: string; name?: string | null | undefined },
): Promise<Account> => {
  const { users, proofs } = features;
  const made = users.create({ email, name, passwordHash: null, emailVerified: false });
  await users.add(project.number, made);
  return (await proofs.prove(project.number, made, { isOwn: true })).account;
};

const upgradeGuest = async (
  { guests, proofs }: Features,
  { project }: Identity,
  guest: Account,
  { email, name = null }: { email: string; name?: string | null | undefined },
): Promise<Account> => {
  const made = await guests.upgrade(project.number, guest, { email, name, passwordHash: null });
  return (await proofs.prove(project.number, made, { isOwn: true })).account;
};

/**
 * The account of whoever has just shown that the address is theirs: theirs already, that of the guest
 * who calls, or a new one. Belongs
 * into the transaction that uses up what has shown it.
 * @throws ApiError sign_up_closed, email_taken, conflict, invalid_link, group_limit
 */
export const enterByAddress = async (
  features: Features,
  identity: Identity,
  proven: ProvenAddress,
): Promise<Entered> => {
  const { proofs, invites, guests } = features;
  const { number } = identity.project;
  const existing = await lockByEmail(features, number, proven.email);
  const guest = await guests.findCaller(identity);
  if (existing) {
    if (guest && proven.merge === undefined) throw addressOfAnother();
    if (existing.email_verified) return { account: existing, isNew: false };
    const isOwn = await isOwnSession(features, identity, existing);
    const { account } = await proofs.prove(number, existing, { isOwn });
    return { account, isNew: false };
  }
  await checkMaySignUp(features, identity, proven);
  const isUpgrade = guest !== undefined && proven.isOwnMail;
  if (guest && !isUpgrade && proven.merge === undefined) throw askedElsewhere();
  const account = await (isUpgrade
    ? upgradeGuest(features, identity, guest, proven)
    : addAccount(features, identity, proven));
  features.database.afterCommit(() => features.noteNewcomer(number, account));
  if (proven.invitation !== undefined) await invites.joinAs(number, account.id, proven.invitation);
  return { account, isNew: true };
};
