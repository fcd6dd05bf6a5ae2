import type { Prove } from '../attempts.ts';
import { hashIp } from '../counters.ts';
import type { Features } from '../features.ts';
import type { EventCaller } from '../sign-in-events/place.ts';
import type { HashCaller } from './passwords.ts';

/**
 * The account of this address, where the password is its own; else undefined, and a failed sign-in is counted.
 * Takes the same statements and the same hash for an address that nobody has.
 */
export const findByPassword = async (
  { users, passwords, attempts, counters, signInEvents }: Features,
  caller: HashCaller & EventCaller,
  email: string,
  password: string,
  prove?: Prove,
) => {
  const { project, ip } = caller;
  const found = await users.findByEmail(project.number, email, hashIp(ip));
  const counted = counters.signIn(email, ip, found);
  const work = async () => {
    const isRight = await passwords.verify(caller, found?.password_hash, password);
    if (found && !isRight)
      await signInEvents.add(caller, found.id, { kind: 'failed', detail: 'password' });
    return isRight ? found : undefined;
  };
  return attempts.countFailures(project.number, counted, work, prove);
};
