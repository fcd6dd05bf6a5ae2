import { ApiError, isUuid, recordRoutes } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { resolveAccess } from '../../collections/access.ts';
import type { Collection, Collections } from '../../collections/collections.ts';
import { parseSort } from '../../query/sort.ts';
import type { Reader } from '../../reader.ts';
import type { Filter } from '../../where/filter.ts';
import type { Lists } from '../lists.ts';
import type { People } from './people.ts';
import type { JsonRecord } from './shown-fields.ts';

/** docs/api.md, "Lists": a page costs two statements more at most. */
const maxIncludedFields = 3;
const maxCollections = 2;
/** Places of a page where an id becomes a record, and what all of them may add in bytes. */
const maxPlaces = 500;
const maxIncludedBytes = 2 * 1024 * 1024;

export interface IncludedField {
  field: string;
  collection: string;
}

const refuse = (message: string): never => {
  throw new ApiError('invalid_query', `"include" ${message}`);
};

/** Means the project's users. */
const users = 'users';
const owner = 'ownerId';

/** `authorId` and `tagIds` mean the collections `authors` and `tags`. */
const guessCollection = (field: string): string => {
  if (field === owner) return users;
  const noun = field.replace(/_?ids?$/i, '') || field;
  return noun.endsWith('s') ? noun : `${noun}s`;
};

/**
 * Reads the query parameter `include`.
 * @throws ApiError invalid_query
 */
export const parseInclude = (text: string | undefined): readonly IncludedField[] => {
  if (text === undefined) return [];
  const fields = text.split(',').map((part): IncludedField => {
    const [field = '', collection = guessCollection(field)] = part.trim().split(':');
    if (field === '' || !recordRoutes.collectionName.safeParse(collection).success)
      refuse('needs fields that hold ids, as in include=authorId or include=author:people');
    return { field, collection };
  });
  if (fields.length > maxIncludedFields) refuse(`may have at most ${maxIncludedFields} fields`);
  if (new Set(fields.map(({ collection }) => collection)).size > maxCollections)
    refuse(`may be of at most ${maxCollections} collections`);
  return fields;
};

const tooMuch = (what: string) =>
  new ApiError('query_too_expensive', `"include": this page would show ${what}.`, {
    hint: 'Ask for fewer records with "limit", or for the others by their ids.',
  });

/** The answer is too large to be put together. @throws ApiError query_too_expensive */
export const refuseLargeInclude = (): never => {
  throw tooMuch('more than 256 KB beside what is included');
};

const toIds = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter(
    (id): id is string => typeof id === 'string' && isUuid(id),
  );

export interface Includes {
  /** Puts what the caller may see of other records in place of their ids; other ids stay. */
  into(
    records: readonly JsonRecord[],
    fields: readonly IncludedField[],
    identity: Identity,
    reader: Reader,
  ): Promise<readonly JsonRecord[]>;
}

/** A record, or a user, with the bytes of its JSON. */
interface Found {
  record: object;
  bytes: number;
}

const measured = (record: object): Found => ({
  record,
  bytes: Buffer.byteLength(JSON.stringify(record)),
});

export const createIncludes = (
  collections: Collections,
  lists: Lists,
  people: People,
): Includes => {
  /** `users` for other fields than the owner is a collection of that name, where the app has one. */
  const findSource = async (
    { field, collection: name }: IncludedField,
    identity: Identity,
  ): Promise<Collection | typeof users> => {
    if (field === owner && name === users) return users;
    const collection = await collections.find(identity.project.number, name);
    if (collection) return collection;
    return name === users
      ? users
      : refuse(`finds no collection "${name}"; name it: include=${field}:<collection>`);
  };

  const read = async (
    collection: Collection,
    ids: readonly string[],
    identity: Identity,
    reader: Reader,
  ): Promise<Map<string, Found>> => {
    const access = resolveAccess(collection.access, identity);
    if (ids.length === 0 || access.rights.read === 'none') return new Map();
    const isAmongIds: Filter = { kind: 'test', field: 'id', test: { op: 'in', values: [...ids] } };
    const filter = { bounds: [isAmongIds], conditions: [] };
    const paging = { sort: parseSort(), limit: ids.length, offset: 0, after: undefined };
    const { items } = await lists.page(
      { collection, access, filter, ownerId: undefined, ...paging },
      reader,
    );
    if (typeof items !== 'string') {
      items.close();
      throw tooMuch('more than 256 KB of another collection');
    }
    const records = JSON.parse(items) as JsonRecord[];
    return new Map(records.map((record) => [String(record.id), measured(record)]));
  };

  const readPeople = async (
    ids: readonly string[],
    identity: Identity,
  ): Promise<Map<string, Found>> => {
    const described = await people.describe(identity, ids);
    return new Map([...described].map(([id, person]) => [id, measured(person)]));
  };

  return {
    async into(records, fields, identity, reader) {
      const listIds = (field: string) => records.flatMap((record) => toIds(record[field]));
      const places = fields.flatMap(({ field }) => listIds(field));
      if (places.length > maxPlaces) throw tooMuch(`more than ${maxPlaces} records`);
      const sources = new Map<string, Collection | typeof users>();
      for (const wanted of fields) sources.set(wanted.field, await findSource(wanted, identity));
      const found = new Map<Collection | typeof users, Map<string, Found>>();
      for (const source of new Set(sources.values())) {
        const named = fields.filter(({ field }) => sources.get(field) === source);
        const ids = [
          ...new Set(named.flatMap(({ field }) => listIds(field)).map((id) => id.toLowerCase())),
        ];
        found.set(
          source,
          source === users
            ? await readPeople(ids, identity)
            : await read(source, ids, identity, reader),
        );
      }
      let leftBytes = maxIncludedBytes;
      const resolve = (value: unknown, byId: Map<string, Found> | undefined): unknown => {
        const hit = typeof value === 'string' ? byId?.get(value.toLowerCase()) : undefined;
        if (!hit) return value;
        leftBytes -= hit.bytes;
        if (leftBytes < 0) throw tooMuch('more than 2 MB beside its records');
        return hit.record;
      };
      const include = (record: JsonRecord): JsonRecord => {
        const shown = { ...record };
        for (const [field, source] of sources) {
          if (!Object.hasOwn(record, field)) continue;
          const value = record[field];
          const byId = found.get(source);
          shown[field] = Array.isArray(value)
            ? value.map((item) => resolve(item, byId))
            : resolve(value, byId);
        }
        return shown;
      };
      return records.map(include);
    },
  };
};
