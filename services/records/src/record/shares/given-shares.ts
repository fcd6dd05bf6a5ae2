import type { RoleAndGroups, UserDirectory } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { type Access, resolveAccess } from '../../collections/access.ts';
import type { Collection, Collections } from '../../collections/collections.ts';
import { isKeptSql } from '../../collections/table/removal.ts';
import { rowPolicySql } from '../../collections/terms/policy-sql.ts';
import { heldPolicy } from '../../collections/terms/terms.ts';
import { and, startParameters } from '../../sql.ts';
import { endSharesSql } from './share-rows.ts';

interface GivenSharesOptions {
  database: Database;
  collections: Pick<Collections, 'find' | 'invalidate'>;
  users: Pick<UserDirectory, 'findRoleAndGroups'>;
}

const batchSize = 500;
const lowestId = '00000000-0000-0000-0000-000000000000';

/** What a record's owner keeps as long as they have an account. */
const lastingWords = ['anyone', 'users', 'owner'];

/** Whether a record's owner may read it by a group or a role alone. */
export const maySeeNoMore = ({ compiled: { rules } }: Access): boolean =>
  !lastingWords.some((word) => rules.read.includes(word));

/** Ends what users have shared and may read themselves no more: nobody hands on what they have not. */
export const createGivenShares = ({ database, collections, users }: GivenSharesOptions) => {
  const findGivers = async (projectNumber: number, userIds: readonly string[]) => {
    const rows = await database.query<{ id: string }>(
      `SELECT id FROM unnest($2::uuid[]) id
        WHERE EXISTS (SELECT FROM shares WHERE project_id = $1 AND shared_by = id)`,
      [projectNumber, userIds],
    );
    return rows.map(({ id }) => id);
  };

  /** As they are now: what has just become more must not end. */
  const findCollections = async (projectNumber: number, userId: string) => {
    const rows = await database.query<{ name: string }>(
      `SELECT name FROM collections WHERE project_id = $1 AND (deleted_at IS NULL OR ${isKeptSql}) AND EXISTS (
         SELECT FROM shares WHERE shares.project_id = $1 AND shared_by = $2 AND shares.coll_id = collections.coll_id)`,
      [projectNumber, userId],
    );
    const found: Collection[] = [];
    for (const { name } of rows) {
      collections.invalidate(projectNumber, name);
      const collection = await collections.find(projectNumber, name);
      if (collection) found.push(collection);
    }
    return found;
  };

  /** The last of the next records that they have shared. */
  const findBatchEnd = async (collection: Collection, userId: string, after: string) => {
    const { values } = startParameters(collection, userId, after);
    const rows = await database.query<{ id: string }>(
      `SELECT record_id AS id FROM shares
        WHERE project_id = $1 AND coll_id = $2 AND shared_by = $3 AND record_id > $4
        ORDER BY record_id LIMIT ${batchSize}`,
      values,
    );
    return rows.at(-1)?.id;
  };

  /** @param user null where they are gone */
  const endIn = async (collection: Collection, userId: string, user: RoleAndGroups | null) => {
    const access = user && resolveAccess(collection.access, { caller: 'user', userId, ...user });
    const policy = access && heldPolicy(access.rights.read);
    if (policy === 'all' || policy?.includes('owner')) return;
    let after = lowestId;
    for (;;) {
      const last = await findBatchEnd(collection, userId, after);
      if (last === undefined) return;
      const parameters = startParameters(collection, userId, after, last);
      const held = access && policy && rowPolicySql(policy, access, parameters);
      const isUnheld =
        held &&
        `EXISTS (SELECT FROM records WHERE records.project_id = $1 AND records.coll_id = $2
           AND records.id = shares.record_id AND (${held}) IS NOT TRUE)`;
      const given =
        'shares.project_id = $1 AND shares.coll_id = $2 AND shared_by = $3 AND record_id > $4 AND record_id <= $5';
      await database.query(endSharesSql(and([given, isUnheld || undefined])), parameters.values);
      after = last;
    }
  };

  return {
    /** May be repeated. Whatever has changed of these users, it is asked for anew. */
    async check(projectNumber: number, userIds: readonly string[]): Promise<void> {
      for (const userId of await findGivers(projectNumber, userIds)) {
        const user = await users.findRoleAndGroups(projectNumber, userId);
        for (const collection of await findCollections(projectNumber, userId))
          await endIn(collection, userId, user);
      }
    },
  };
};
