import { ApiError, platformProject, type User } from '@backlot/contract';
import type { Nouns } from './nouns.ts';
import { type Account, normalizeEmail, presentUser } from './users.ts';

export interface NewOwner {
  email: string;
  password: string;
  name: string | null;
}

/** An owner with a verified address; one who exists is left as they are, password included. */
export const ensureOwner = async (
  { users, passwords }: Nouns,
  owner: NewOwner,
): Promise<{ user: User; created: boolean }> => {
  const project = platformProject.number;
  const email = normalizeEmail(owner.email);
  const nowhere = Buffer.alloc(0);
  const existing = await users.findByEmail(project, email, nowhere);
  if (existing) return { user: presentUser(existing), created: false };

  const passwordHash = await passwords.hash(project, owner.password);
  let added: Account;
  try {
    added = await users.add(project, {
      email,
      name: owner.name,
      passwordHash,
      emailVerified: true,
    });
  } catch (error) {
    // Another process was faster.
    if (!(error instanceof ApiError) || error.code !== 'email_taken') throw error;
    const theirs = await users.findByEmail(project, email, nowhere);
    if (!theirs) throw error;
    return { user: presentUser(theirs), created: false };
  }
  return { user: presentUser(added), created: true };
};
