import { createHash } from 'node:crypto';
import { ApiError } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { bypassesRules } from '../collections/access.ts';
import type { Collection } from '../collections/collections.ts';
import { formatAccess } from '../collections/rules.ts';
import { selectRecords } from '../query/selection.ts';
import type { Filter } from '../where/filter.ts';
import { type Watch, withTimesAsTexts } from './judge.ts';

/** What a caller asks to hear of a collection. */
export interface Asked {
  name: string;
  filter: Filter;
  ownerId: string | undefined;
  group: string | undefined;
}

/** @throws ApiError conflict where the collection keeps no changes */
const checkHasHistory = ({ name, hasHistory }: Collection): void => {
  if (hasHistory !== false) return;
  throw new ApiError('conflict', `The collection "${name}" keeps no changes.`, {
    hint: 'Its "history" is switched off; the project’s owner switches it on.',
  });
};

/** @throws ApiError unauthenticated, forbidden, invalid_query, invalid_where, conflict */
export const toWatch = (collection: Collection, asked: Asked, identity: Identity): Watch => {
  checkHasHistory(collection);
  const { selection, filter } = selectRecords(collection, identity, {
    where: asked.filter,
    group: asked.group,
    ownerId: asked.ownerId,
  });
  const { access, ownerId, groupId } = selection;
  return { access, filter: withTimesAsTexts(filter), ownerId, groupId };
};

/** Where nobody has made the collection yet: what comes then is heard from its beginning. */
const notMade = '-';
/** Before the mark of one that came by its name with records in it, of which nobody was told. */
const tookName = '~';

/**
 * Says what decides which records the caller reads, beside those themselves: when it is another one, nobody is told of
 * what they see now or no more.
 */
export const watchMark = (collection: Collection | null, identity: Identity): string => {
  if (!collection) return notMade;
  const { caller, userId, role, groups, emailVerified } = identity;
  const all = bypassesRules(identity)
    ? [collection.id, false]
    : [
        collection.id,
        formatAccess(collection.access),
        caller,
        [userId, role, groups, emailVerified],
      ];
  const hash = createHash('sha256').update(JSON.stringify(all)).digest('base64url').slice(0, 12);
  return collection.tookName ? tookName + hash : hash;
};

export const isMarked = (before: string | undefined, now: string): boolean =>
  before === now || (before === notMade && !now.startsWith(tookName));
