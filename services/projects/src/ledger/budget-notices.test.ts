import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestBed, dayMs, ownerA, type TestBed } from '../testing/test-bed.ts';

describe('what owners are told of budgets that refuse calls', () => {
  let bed: TestBed;
  let ids: string[];
  beforeAll(async () => {
    bed = await createTestBed();
    ids = [await bed.project(), await bed.project()];
  });
  afterAll(() => bed.close());
  beforeEach(async () => {
    await bed.database.query('DELETE FROM budget_notices');
    await bed.takeEvents();
  });

  const note = async (changes: Record<string, unknown> = {}, ownerId = ownerA) => {
    const project = await bed.service.directories.projects.findProject(String(ids[0]));
    await bed.service.directories.credits.noteRefusal(ownerId, {
      projectId: String(ids[0]),
      projectNumber: Number(project?.number),
      kind: 'visitors',
      address: '192.0.2.1',
      route: 'POST /ai',
      ...changes,
    });
  };
  const told = async () =>
    (await bed.takeEvents()).map(({ topic, payload }) => [
      topic,
      (payload as { kind: string }).kind,
    ]);

  it('is told once a day and kind, however many calls and gateways say so at once', async () => {
    await Promise.all(Array.from({ length: 12 }, () => note()));
    const events = await bed.takeEvents();
    expect(events).toMatchObject([
      {
        topic: 'budget.reached',
        payload: {
          projectId: ids[0],
          projectName: 'A project',
          ownerId: ownerA,
          kind: 'visitors',
          address: '192.0.2.1',
          route: 'POST /ai',
        },
      },
    ]);
    await note();
    expect(await told()).toEqual([]);
    await note({ kind: 'project' });
    expect(await told()).toEqual([['budget.reached', 'project']]);
    bed.pass(dayMs);
    await note();
    expect(await told()).toEqual([['budget.reached', 'visitors']]);
  });

  it('is told once for all projects of an owner', async () => {
    await note();
    const second = await bed.service.directories.projects.findProject(String(ids[1]));
    await note({ projectId: second?.id, projectNumber: second?.number });
    expect(await told()).toHaveLength(1);
  });

  it('is told nobody about the project of somebody else', async () => {
    await note({}, randomUUID());
    await note({ projectId: 'another' });
    expect(await told()).toEqual([]);
  });
});
