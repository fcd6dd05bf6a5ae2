import type { AccessRules, EventPayloads } from '@backlot/contract';
import { createOutbox } from '@backlot/database';
import type { IdentityProject } from '@backlot/identity';
import { asOwner, testProject, until } from '@backlot/testing';
import { createSearchBuilder } from '../../search/searches.ts';
import type { TestBed } from '../test-bed.ts';
import type { Stored } from './words.ts';

/** A collection as it is stored. */
export interface Contents {
  rules: AccessRules;
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
     SELECT $1, $6, id, owner_id, group_id, now(), now(), data
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

let projects = 7000;

/** A project with these collections. */
export const newProject = async (
  bed: TestBed,
  collections: Record<string, Contents>,
): Promise<IdentityProject> => {
  projects += 1;
  const project = { ...testProject, id: `p${projects}`, number: projects };
  for (const [index, [name, { rules, records }]] of Object.entries(collections).entries()) {
    const path = `/platform/projects/${project.id}/collections/${name}`;
    const put = async (body: object) => {
      const { status } = await bed.call('PUT', path, { identity: asOwner({ project }), body });
      if (status !== 200) throw new Error(`the rules of ${name} answered ${status}`);
    };
    await put({ access: rules });
    await insertRecords(bed, [project.number, index + 1], records);
    await put({ search: ['other'] });
  }
  await untilSearched(bed, project.number);
  return project;
};

const untilSearched = ({ database }: TestBed, project: number) => {
  const outbox = createOutbox<EventPayloads>(database, () => {});
  const quota = { isFull: async () => false };
  const builder = createSearchBuilder({ database, outbox, quota });
  return until(async () => {
    await builder.run();
    const building = await database.query(
      `SELECT 1 FROM searches WHERE project_id = $1 AND state = 'building'`,
      [project],
    );
    return building.length === 0;
  });
};
