import type { AccessRules, CollectionLimits } from '@backlot/contract';
import type { IdentityProject } from '@backlot/identity';
import { asOwner, testProject, until } from '@backlot/testing';
import { countAllSql } from '../../collections/stored/record-counts.ts';
import { searchWordsSql } from '../../collections/stored/search-words.ts';
import { inCollection, startParameters } from '../../sql.ts';
import { ada, bob, type TestBed } from '../test-bed.ts';
import type { ValueSchema } from './schemas.ts';
import type { Stored } from './words.ts';

/** A collection as it is stored. */
export interface Contents {
  rules: AccessRules;
  schema?: ValueSchema | undefined;
  limits?: CollectionLimits | undefined;
  records: Stored[];
}

/** Puts records into a collection of the project, whatever its rules say. @param collection its number */
const insertRecords = async (
  { database }: TestBed,
  [project, collection]: readonly [number, number],
  records: readonly Stored[],
): Promise<void> => {
  await database.query(
    `INSERT INTO records (project_id, coll_id, id, owner_id, group_id, created_at, updated_at, data)
     SELECT $1, $6, id, owner_id, group_id, uuid_extract_timestamp(id), uuid_extract_timestamp(id), data
     FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::jsonb[]) made(id, owner_id, group_id, data)`,
    [
      project,
      records.map(({ id }) => id),
      records.map(({ ownerId }) => ownerId),
      records.map(({ groupId }) => groupId),
      records.map(({ data }) => JSON.stringify(data)),
      collection,
    ],
  );
  await database.query(
    'INSERT INTO count_delta (project_id, coll_id, d, bytes) VALUES ($1, $3, $2, 0)',
    [project, records.length, collection],
  );
  const shares = records.flatMap(({ id, shares }) => shares.map((share) => ({ id, ...share })));
  await database.query(
    `INSERT INTO shares (project_id, coll_id, record_id, user_id, may, email, created_at)
     SELECT $1, $5, record, coalesce("user", '00000000-0000-0000-0000-000000000000'), may, coalesce(email, ''), now()
     FROM unnest($2::uuid[], $3::uuid[], $4::text[], $6::text[]) s(record, "user", may, email)`,
    [
      project,
      shares.map(({ id }) => id),
      shares.map(({ userId }) => userId),
      shares.map(({ may }) => may),
      collection,
      shares.map(({ email }) => email ?? null),
    ],
  );
};

/** What is there already is searched at once: nothing is left for the background. */
const keepWords = async (
  { database }: TestBed,
  [projectNumber, id]: readonly [number, number],
): Promise<void> => {
  const [search] = await database.query<{ number: number; fields: string[] }>(
    `UPDATE searches SET state = 'ready', is_known = true WHERE project_id = $1 AND coll_id = $2 RETURNING number, fields`,
    [projectNumber, id],
  );
  if (!search) throw new Error('the collection is not searched');
  const key = { projectNumber, id };
  const parameters = startParameters(key, search.number);
  const words = searchWordsSql(key, search, 'data', parameters);
  await database.query(
    `INSERT INTO search_texts (project_id, coll_id, number, record_id, words)
     SELECT $1, $2, $3, id, ${words} FROM records WHERE ${inCollection} ON CONFLICT DO NOTHING`,
    parameters.values,
  );
};

/** Nothing is counted in the background any more. */
const untilCounted = ({ database }: TestBed, key: readonly [number, number]) =>
  until(async () => {
    const building = `SELECT FROM record_limits WHERE project_id = $1 AND coll_id = $2 AND state = 'building'`;
    return (await database.query(building, [...key])).length === 0;
  });

const countRecords = async ({ database }: TestBed, key: readonly [number, number]) => {
  const [limit] = await database.query<{ number: number }>(
    'SELECT number FROM record_limits WHERE project_id = $1 AND coll_id = $2',
    [...key],
  );
  await database.query(countAllSql, [...key, limit?.number]);
};

/** Who passes for a key holds every record: no share that they have given ends in the background, at any time. */
const holdsEverything = { role: 'user', groups: [], caller: 'key' };

let projects = 7000;

/** A project with these collections. */
export const newProject = async (
  bed: TestBed,
  collections: Record<string, Contents>,
): Promise<IdentityProject> => {
  projects += 1;
  bed.elsewhere.find = (id) => (id === ada || id === bob ? holdsEverything : null);
  const project = { ...testProject, id: `p${projects}`, number: projects };
  const identity = asOwner({ project });
  for (const [index, [name, contents]] of Object.entries(collections).entries()) {
    const { rules, schema, limits, records } = contents;
    const path = `/platform/projects/${project.id}/collections/${name}`;
    const body = { access: rules, search: ['other'], schema, limits };
    const { status, body: answer } = await bed.call('PUT', path, { identity, body });
    if (status !== 200) throw new Error(`${name} answered ${status}: ${answer.error}`);
    const key = [project.number, index + 1] as const;
    if (limits?.perUser !== undefined) await untilCounted(bed, key);
    await insertRecords(bed, key, records);
    if (limits?.perUser !== undefined) await countRecords(bed, key);
    await keepWords(bed, key);
  }
  return project;
};
