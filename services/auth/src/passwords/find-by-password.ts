import type { Identity } from '@backlot/identity';
import { hashIp } from '../attempts.ts';
import type { Features } from '../features.ts';
import type { HashCaller } from './passwords.ts';

/**
 * The account of this address, where the password is its own; else undefined, and a failed sign-in is counted.
 * Takes the same statements and the same hash for an address that nobody has.
 */
export const findByPassword = async (
  { users, passwords, attempts, counters }: Features,
  caller: HashCaller & Pick<Identity, 'project'>,
  email: string,
  password: string,
) => {
  const { project, ip } = caller;
  const found = await users.findByEmail(project.number, email, hashIp(ip));
  return attempts.countFailures(project.number, counters.signIn(email, ip, found), async () => {
    const isRight = await passwords.verify(caller, found?.password_hash, password);
    return isRight ? found : undefined;
  });
};
