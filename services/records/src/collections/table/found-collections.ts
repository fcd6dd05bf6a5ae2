import { ApiError, type CollectionAccess, type EventPayloads } from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import { LRUCache } from 'lru-cache';
import type { CompiledSchema } from '../../schema/compiled-schema.ts';
import { type CollectionKey, epochMsSql } from '../../sql.ts';
import type { PersonalKind } from '../personal-values.ts';
import { compileAccess, parseAccess } from '../rules.ts';
import { type KeptLimits, limitsSql } from '../stored/limits.ts';
import { createSchemaReader } from '../stored/schemas.ts';
import type { CollectionSearch } from '../stored/search-words.ts';
import { searchSql } from '../stored/searches.ts';
import type { Slot } from '../stored/slots.ts';
import { claimedFieldsSql } from '../stored/unique-fields.ts';
import type { UniqueField } from '../stored/unique-keys.ts';

/** A collection as the statements on its records need it. */
export interface Collection extends CollectionKey {
  name: string;
  access: CollectionAccess;
  /** What records have to be; undefined: anything. */
  schema?: CompiledSchema;
  /** Goes up whenever what writers have to fill in changes, or the table of the records. */
  epoch: number;
  slots: readonly Slot[];
  /** Those whose values writers claim. */
  unique: readonly UniqueField[];
  search?: CollectionSearch;
  /** Undefined where there are none. */
  limits?: KeptLimits;
  /** Whether changes are kept. Default yes. */
  hasHistory?: boolean;
  personal?: Readonly<Record<string, PersonalKind>>;
  /** Whether it has taken its name with records in it. */
  tookName?: boolean;
  /** Epoch milliseconds; its number may have been another one's before. Absent: not known. */
  createdMs?: number;
}

/** Finds collections by name, and keeps what it has found for a while. */
export interface FoundCollections {
  /** Null where nobody has created it. The answer may be up to 5 seconds old. */
  find(projectNumber: number, name: string): Promise<Collection | null>;
  /** As it stands in the database; null where there is none. */
  read(projectNumber: number, name: string): Promise<Collection | null>;
  /** The collection as it is now. @throws CollectionGone */
  refresh(collection: Pick<Collection, 'projectNumber' | 'name'>): Promise<Collection>;
  /** Once the surrounding transaction has committed: what is rolled back must not be cached. */
  keep(collection: Collection): void;
  invalidate(projectNumber: number, name: string): void;
  /** Tells every process, this one once the surrounding transaction has committed. */
  tellChanged(projectNumber: number, name: string): Promise<void>;
}

/** It was deleted or renamed since the caller found it. */
export class CollectionGone extends ApiError {
  constructor() {
    super('not_found', 'There is no such collection.');
  }
}

const cacheTtlMs = 5000;
const cacheEntries = 10_000;
/** Of their schemas. */
const cacheBytes = 64 * 1024 * 1024;

const collectionSql = `SELECT coll_id, access, epoch, (
    SELECT json_agg(json_build_object('number', slot, 'field', field, 'state', state, 'distinctShare', distinct_share))
    FROM slots WHERE slots.project_id = $1 AND slots.coll_id = collections.coll_id), ${claimedFieldsSql}, ${searchSql}, nullif(personal, '{}'), schema, ${limitsSql}, history, ${epochMsSql('created_at')}, took_name
  FROM collections WHERE project_id = $1 AND name = $2`;

/** The access of a collection in which nobody whom rules bind gives or changes what the server writes. */
const keepServerFields = (
  access: CollectionAccess,
  schema: CompiledSchema | undefined,
): CollectionAccess => {
  if (!schema || schema.serverFields.length === 0) return access;
  const { rules } = compileAccess(access);
  const fields = { ...rules.fields };
  for (const [name] of schema.serverFields)
    fields[name] = { ...fields[name], create: [], change: [] };
  return { ...rules, fields };
};

export const createFoundCollections = (
  database: Database,
  outbox: Outbox<EventPayloads>,
  now: () => number,
): FoundCollections => {
  const cache = new LRUCache<string, Collection>({
    max: cacheEntries,
    maxSize: cacheBytes,
    sizeCalculation: ({ schema }) => 1 + (schema?.sizeBytes ?? 0),
    ttl: cacheTtlMs,
    ttlResolution: 0,
    perf: { now },
  });
  const readSchema = createSchemaReader();
  const cacheKey = (projectNumber: number, name: string) => `${projectNumber}/${name}`;

  const invalidate = (projectNumber: number, name: string) => {
    cache.delete(cacheKey(projectNumber, name));
  };

  const keep = (collection: Collection) =>
    database.afterCommit(() => {
      cache.set(cacheKey(collection.projectNumber, collection.name), collection);
    });

  const read = async (projectNumber: number, name: string): Promise<Collection | null> => {
    const [row] = await database.read('records_collection', collectionSql, [projectNumber, name]);
    if (!row) return null;
    const [
      id,
      access,
      epoch,
      slots,
      unique,
      search,
      personal,
      schemaText,
      limits,
      history,
      created,
      tookName,
    ] = row;
    const schema = schemaText ? readSchema(schemaText) : undefined;
    return {
      projectNumber,
      name,
      id: Number(id),
      access: keepServerFields(parseAccess(access ?? ''), schema),
      ...(schema && { schema }),
      epoch: Number(epoch),
      createdMs: Number(created),
      slots: JSON.parse(slots ?? '[]') as Slot[],
      unique: JSON.parse(unique ?? '[]') as UniqueField[],
      ...(search && { search: JSON.parse(search) as CollectionSearch }),
      ...(personal && { personal: JSON.parse(personal) as Record<string, PersonalKind> }),
      ...(limits && { limits: JSON.parse(limits) as KeptLimits }),
      ...(history === 'f' && { hasHistory: false }),
      ...(tookName === 't' && { tookName: true }),
    };
  };

  const find = async (projectNumber: number, name: string) => {
    const cached = cache.get(cacheKey(projectNumber, name));
    if (cached) return cached;
    const collection = await read(projectNumber, name);
    if (collection) keep(collection);
    return collection;
  };

  return {
    find,
    read,
    keep,
    invalidate,
    async refresh({ projectNumber, name }) {
      invalidate(projectNumber, name);
      const current = await find(projectNumber, name);
      if (current) return current;
      throw new CollectionGone();
    },
    async tellChanged(projectNumber, name) {
      await outbox.append('collection.changed', { projectNumber, name });
      database.afterCommit(() => invalidate(projectNumber, name));
    },
  };
};
