import { ApiError, type RecordDirectory } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { type FairShares, toRequester } from '@backlot/fair-shares';
import type { Identity } from '@backlot/identity';
import { toIdentity } from '@backlot/service';
import { checkRead, resolveAccess } from '../collections/access.ts';
import type { Collection, Collections } from '../collections/collections.ts';
import { readableSql, visibleRecordsSql } from '../collections/field-rules.ts';
import { recordNotFound } from '../collections/forbidden.ts';
import { and, inCollection, matchesId } from '../sql.ts';
import { checkId, explainRefusal, type RecordTarget, targetParameters } from './refusals.ts';

export interface RecordDirectoryDeps {
  database: Database;
  collections: Pick<Collections, 'find'>;
  reads: FairShares;
}

/** Answers for other services what a caller may do with one record. */
export const createRecordDirectory = ({
  database,
  collections,
  reads,
}: RecordDirectoryDeps): RecordDirectory => {
  const toTarget = (collection: Collection, identity: Identity, id: string): RecordTarget => ({
    project: identity.project,
    collection,
    access: resolveAccess(collection.access, identity),
    id,
  });

  /** By the number under which records lie: a name changes. */
  const findById = async (projectNumber: number, id: number): Promise<Collection | null> => {
    const [row] = await database.query<{ name: string }>(
      `SELECT name FROM collections WHERE ${inCollection} AND deleted_at IS NULL`,
      [projectNumber, id],
    );
    const collection = row && (await collections.find(projectNumber, row.name));
    return collection?.id === id ? collection : null;
  };

  const checkChange = async (identity: Identity, name: string, recordId: string) => {
    const collection = await collections.find(identity.project.number, name);
    if (!collection) throw recordNotFound();
    const target = toTarget(collection, identity, recordId);
    checkId(target);
    checkRead(target.access);
    await explainRefusal(database, target, { action: 'change' });
    return { collectionId: collection.id };
  };

  return {
    async mayChange({ collection, recordId, ...caller }) {
      const identity = toIdentity(caller);
      try {
        return await reads.run(toRequester(identity), () =>
          checkChange(identity, collection, recordId),
        );
      } catch (error) {
        if (!(error instanceof ApiError) || error.status >= 500) throw error;
        const { code, message, hint } = error;
        return { refused: { code, message, ...(hint !== undefined && { hint }) } };
      }
    },

    async mayRead({ collectionId, recordId, ...caller }) {
      const identity = toIdentity(caller);
      return reads.run(toRequester(identity), async () => {
        const collection = await findById(identity.project.number, collectionId);
        if (!collection) return false;
        const target = toTarget(collection, identity, recordId);
        const parameters = targetParameters(target);
        const records = visibleRecordsSql(target, parameters);
        const policy = readableSql(target.access, parameters);
        const found = await database.query(
          `SELECT FROM ${records} WHERE ${and([matchesId, policy])}`,
          parameters.values,
        );
        return found.length > 0;
      });
    },
  };
};
