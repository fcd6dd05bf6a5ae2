import { type AccessPreset, ApiError } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import type { Parameters } from '../sql.ts';

/** Which records of a collection a caller may see or change. */
type RowPolicy = 'all' | 'own' | 'own-or-ownerless' | 'ownerless' | 'none';

interface Rights {
  read: RowPolicy;
  change: RowPolicy;
  create: boolean;
}

const noRights: Rights = { read: 'none', change: 'none', create: false };
const fullRights: Rights = { read: 'all', change: 'all', create: true };

/**
 * docs/api.md, "Access". A deleted account's id stays in its records, which are then nobody's: only
 * the project's own callers may change them.
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
    anonymous: noRights,
    user: { read: 'all', change: 'own', create: true },
  },
  private: {
    anonymous: noRights,
    user: { read: 'own', change: 'own', create: true },
  },
  'append-only': {
    anonymous: { ...noRights, create: true },
    user: { ...noRights, create: true },
  },
  locked: { anonymous: noRights, user: noRights },
};

/** What one caller may do in a collection. */
export interface Access {
  /** The user of this project who calls; null for everybody else. */
  userId: string | null;
  rights: Rights;
}

/** The owner of the project, its secret keys and the operator are bound by no preset. */
export const bypassesPresets = ({ caller }: Identity): boolean =>
  caller === 'owner' || caller === 'key' || caller === 'operator';

export const resolveAccess = (preset: AccessPreset, identity: Identity): Access => {
  if (bypassesPresets(identity)) return { userId: null, rights: fullRights };
  const userId = identity.caller === 'user' ? identity.userId : null;
  return { userId, rights: presets[preset][userId === null ? 'anonymous' : 'user'] };
};

const signInFirst = () => new ApiError('unauthenticated', 'Sign in first.');
export const recordNotFound = (hint?: string) =>
  new ApiError('not_found', 'There is no such record.', hint === undefined ? {} : { hint });

/** docs/api.md, "Access": anonymous callers get 401, signed-in ones 403. */
export const changeForbidden = ({ userId }: Access): ApiError =>
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

/** The policy as a condition on `owner_id`; undefined where it admits every row. */
export const rowPolicySql = (
  policy: RowPolicy,
  userId: string | null,
  parameters: Parameters,
): string | undefined => {
  switch (policy) {
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
