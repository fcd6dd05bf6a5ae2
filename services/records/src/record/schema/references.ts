import type { Database } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import { type Access, accessTo } from '../../collections/access.ts';
import type { Collections } from '../../collections/collections.ts';
import { rowPolicySql } from '../../collections/terms/policy-sql.ts';
import type { Reference, SchemaCheck } from '../../schema/check.ts';
import { messages } from '../../schema/messages.ts';
import { inCollection, startParameters } from '../../sql.ts';

/** Of one call. */
const maxReferences = 1000;

export interface ReferenceChecksDeps {
  database: Database;
  collections: Pick<Collections, 'find'>;
}

interface Writer {
  project: Pick<Identity['project'], 'number'>;
  access: Access;
}

/** Looks whether ids are those of records that the caller may see: one read for each collection that is named. */
export const createReferenceChecks = ({ database, collections }: ReferenceChecksDeps) => {
  const findReadable = async (
    { project, access }: Writer,
    name: string,
    ids: readonly string[],
  ): Promise<ReadonlySet<string>> => {
    const collection = await collections.find(project.number, name);
    if (!collection) return new Set();
    const reading = accessTo(access, collection.access);
    const parameters = startParameters(collection, ids);
    const policy = rowPolicySql(reading.rights.read, reading, parameters) ?? 'true';
    const rows = await database.query<{ id: string }>(
      `SELECT id FROM records WHERE ${inCollection} AND id = ANY ($3::uuid[]) AND ${policy}`,
      parameters.values,
    );
    return new Set(rows.map(({ id }) => id));
  };

  const refuse = (check: SchemaCheck, { collection, path, operation }: Reference) =>
    check.addAt({ path, operation }, 'x-ref', messages.ref(collection));

  return async (writer: Writer, check: SchemaCheck): Promise<void> => {
    const { references } = check;
    for (const extra of references.splice(maxReferences))
      check.addAt(extra, 'x-ref', messages.tooManyReferences(maxReferences));
    const byCollection = Map.groupBy(references, ({ collection }) => collection);
    const found = await Promise.all(
      [...byCollection].map(async ([name, asked]) => {
        const ids = new Set(asked.map(({ id }) => id));
        return [name, await findReadable(writer, name, [...ids])] as const;
      }),
    );
    const readable = new Map(found);
    for (const reference of references)
      if (!readable.get(reference.collection)?.has(reference.id)) refuse(check, reference);
  };
};
