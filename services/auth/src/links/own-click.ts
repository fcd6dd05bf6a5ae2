import { ApiError } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { hashIp } from '../attempts.ts';
import type { Features } from '../features.ts';
import type { Account } from '../users/user-row.ts';
import { newToken } from './links.ts';

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
  { users, passwords, attempts, counters }: Features,
  { identity, signal, password }: Click,
  account: Account,
): Promise<boolean> => {
  const { project, ip, caller, userId } = identity;
  if (password === undefined) {
    if (caller !== 'user' || userId !== account.id) return false;
    await users.findBySession(identity);
    return true;
  }
  const found = await users.findByEmail(project.number, account.email, hashIp(ip));
  const counted = counters.signIn(account.email, ip, found?.id === account.id ? found : undefined);
  const isRight = await attempts.countFailures(project.number, counted, async () => {
    const stored = account.password_hash;
    return (await passwords.verify({ project, ip, signal }, stored, password)) || undefined;
  });
  if (!isRight) throw new ApiError('invalid_credentials', '"password": is wrong.');
  return true;
};

/**
 * What stands in for the password of an account that somebody may have made with another's address: nobody
 * knows it.
 * @throws ApiError overloaded
 */
export const hashUnknownPassword = async (
  { passwords }: Pick<Features, 'passwords'>,
  { identity: { project, ip }, signal }: Click,
): Promise<string> => passwords.hash({ project, ip, signal }, newToken());

/**
 * Ends every session and the password of an account whose address was just shown to be somebody's, and mails
 * them a link for a new one. Belongs into the transaction of that, which has locked the account.
 */
export const handOver = async (
  { sessions, passwords, links }: Pick<Features, 'sessions' | 'passwords' | 'links'>,
  { identity }: Click,
  account: Account,
  unknownPassword: string,
): Promise<void> => {
  const { number } = identity.project;
  await sessions.endAll(number, account.id);
  await passwords.change(number, account, unknownPassword);
  await links.send(identity, 'reset', account);
};
