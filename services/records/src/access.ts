import { type AccessPreset, ApiError } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import type { Parameters } from './parameters.ts';

/** Which records of a collection somebody may see or change. */
type Reach = 'all' | 'own' | 'own-or-ownerless' | 'ownerless' | 'none';

interface Rights {
  read: Reach;
  change: Reach;
  create: boolean;
}

const nothing: Rights = { read: 'none', change: 'none', create: false };

/**
 * Contract section 4: the presets. An owner's id stays in the records of an erased account, where it
 * is nobody's: they are open to none but the project's own callers.
 */
const presets: Record<AccessPreset, { anonymous: Rights; user: Rights }> = {
  shared: {
    anonymous: { read: 'all', change: 'ownerless', create: true },
    user: { read: 'all', change: 'own-or-ownerless', create: true },
  },
  'public-read': {
    anonymous: { read: 'all', change: 'none', create: false },
    user: { read: 'all', change: 'own', create: true },
  },
  members: {
    anonymous: nothing,
    user: { read: 'all', change: 'own', create: true },
  },
  private: {
    anonymous: nothing,
    user: { read: 'own', change: 'own', create: true },
  },
  'append-only': {
    anonymous: { ...nothing, create: true },
    user: { ...nothing, create: true },
  },
  locked: { anonymous: nothing, user: nothing },
};

const projectsOwn: Rights = { read: 'all', change: 'all', create: true };

/** What one caller may do in a collection. */
export interface Access {
  /** The user of this project who calls; null for everybody else. */
  userId: string | null;
  rights: Rights;
}

/** The owner of the project, its secret keys and the operator pass every preset. */
export const passesPresets = ({ caller }: Identity): boolean =>
  caller === 'owner' || caller === 'key' || caller === 'operator';

export const accessOf = (preset: AccessPreset, identity: Identity): Access => {
  if (passesPresets(identity)) return { userId: null, rights: projectsOwn };
  const userId = identity.caller === 'user' ? identity.userId : null;
  return { userId, rights: presets[preset][userId === null ? 'anonymous' : 'user'] };
};

const signInFirst = () => new ApiError('unauthenticated', 'Sign in first.');
export const recordNotFound = () => new ApiError('not_found', 'There is no such record.');

/** Contract section 4: anonymous callers get 401, signed-in ones 403. */
export const changeRefused = ({ userId }: Access): ApiError =>
  userId === null
    ? signInFirst()
    : new ApiError('forbidden', 'You may not change this record: it is not yours.');

/** @throws ApiError unauthenticated; signed-in callers just see less. */
export const checkRead = ({ userId, rights }: Access): void => {
  if (rights.read === 'none' && userId === null) throw signInFirst();
};

/** @throws ApiError unauthenticated */
export const checkChange = ({ userId, rights }: Access): void => {
  if (rights.change === 'none' && userId === null) throw signInFirst();
};

/** @throws ApiError unauthenticated, forbidden */
export const checkCreate = ({ userId, rights }: Access): void => {
  if (rights.create) return;
  if (userId === null) throw signInFirst();
  throw new ApiError('forbidden', 'You may not create records in this collection.');
};

/** The condition over `owner_id` that makes a row one within reach; undefined where every row is. */
export const reachSql = (
  reach: Reach,
  userId: string | null,
  parameters: Parameters,
): string | undefined => {
  switch (reach) {
    case 'all':
      return undefined;
    case 'none':
      return 'false';
    case 'ownerless':
      return 'owner_id IS NULL';
    case 'own':
      return `owner_id = ${parameters.add(userId, 'uuid')}`;
    case 'own-or-ownerless':
      return `(owner_id IS NULL OR owner_id = ${parameters.add(userId, 'uuid')})`;
  }
};
