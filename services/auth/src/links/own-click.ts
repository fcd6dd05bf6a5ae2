import { ApiError } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { hashIp } from '../counters.ts';
import type { Features } from '../features.ts';
import { type Account, requireAddress } from '../users/user-row.ts';

export interface Click {
  identity: Identity;
  signal: AbortSignal;
  password: string | undefined;
}

/**
 * Whether who follows a link has the account too: by a live session of it, or by its password. Anybody can
 * sign up with an address that is not theirs, and wait for the click of whoever has it.
 * @throws ApiError invalid_credentials, invalid_token
 */
export const isOwnClick = async (
  { users, passwords, attempts, counters, signInEvents }: Features,
  { identity, signal, password }: Click,
  account: Account,
): Promise<boolean> => {
  const { project, ip, caller, userId } = identity;
  if (password === undefined) {
    if (caller !== 'user' || userId !== account.id) return false;
    await users.findBySession(identity);
    return true;
  }
  const email = requireAddress(account);
  const found = await users.findByEmail(project.number, email, hashIp(ip));
  const counted = counters.signIn(email, ip, found?.id === account.id ? found : undefined);
  const isRight = await attempts.countFailures(project.number, counted, async () => {
    const stored = account.password_hash;
    return (await passwords.verify({ project, ip, signal }, stored, password)) || undefined;
  });
  if (!isRight) {
    await signInEvents.add(identity, account.id, { kind: 'failed', detail: 'password' });
    throw new ApiError('invalid_credentials', '"password": is wrong.');
  }
  return true;
};

/** Mails whoever was just shown to have the address of an account a link for a password. Belongs into the transaction of that. */
export const mailNewPassword = (
  { links }: Pick<Features, 'links'>,
  { identity }: Click,
  account: Account,
): Promise<void> => links.send(identity, 'reset', { ...account, email: requireAddress(account) });
