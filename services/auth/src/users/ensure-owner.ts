import { ApiError, normalizeEmail, platformProject, type User } from '@backlot/contract';
import type { Features } from '../features.ts';

export interface NewOwner {
  email: string;
  password: string;
  name: string | null;
}

/** An owner with a verified address; one who exists is left as they are, password included. */
export const ensureOwner = async (
  { users, passwords }: Features,
  { email, password, name }: NewOwner,
): Promise<{ user: User; created: boolean }> => {
  const project = platformProject.number;
  const owner = { email: normalizeEmail(email), name, emailVerified: true };
  const find = () => users.findByEmail(project, owner.email, Buffer.alloc(0));
  const existing = await find();
  if (existing) return { user: users.present(existing), created: false };

  const caller = { project: { id: platformProject.id, ownerId: null }, ip: '' };
  const passwordHash = await passwords.hash(caller, password);
  try {
    const account = users.create({ ...owner, passwordHash });
    await users.add(project, account);
    return { user: users.present(account), created: true };
  } catch (error) {
    const isTaken = error instanceof ApiError && error.code === 'email_taken';
    const addedMeanwhile = isTaken ? await find() : undefined;
    if (!addedMeanwhile) throw error;
    return { user: users.present(addedMeanwhile), created: false };
  }
};
