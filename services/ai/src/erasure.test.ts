import { anonymous, asOwner, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, type TestBed } from './testing/test-bed.ts';

const hello = { messages: [{ role: 'user', content: 'Hello' }] };
const tables = ['prompts', 'secrets', 'visitor_days'];

describe('the erasure of a project', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
    await bed.service.start();
  });
  afterAll(async () => {
    await bed.service.stop();
    await bed.close();
  });

  it('takes its prompts, its key and its visitors with it, and nobody else’s', async () => {
    for (const number of [2001, 2002]) {
      const project = { ...testProject, number, settings: { aiPerVisitorPerDay: 5 } };
      await bed.http.call('PUT', `/platform/projects/${testProject.id}/prompts/a`, {
        identity: asOwner({ project }),
        body: { system: 'x' },
      });
      expect((await bed.ask(hello, { identity: anonymous({ project }) })).status).toBe(200);
      await bed.database.query(
        `INSERT INTO secrets (project_number, sealed, hint, updated_at) VALUES ($1, '', '', now())`,
        [number],
      );
    }
    const projectsIn = async (table: string) => {
      const rows = await bed.database.query<{ project_number: number }>(
        `SELECT DISTINCT project_number FROM ${table} ORDER BY 1`,
      );
      return rows.map((row) => row.project_number);
    };
    for (const table of tables) expect(await projectsIn(table)).toEqual([2001, 2002]);
    const payload = { projectId: testProject.id, projectNumber: 2001 };
    for (const id of ['e1', 'e2']) await bed.bus.publish({ id, topic: 'project.erased', payload });
    for (const table of tables) await until(async () => (await projectsIn(table)).length === 1);
    for (const table of tables) expect(await projectsIn(table)).toEqual([2002]);
  });
});
