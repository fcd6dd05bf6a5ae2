import { randomUUID } from 'node:crypto';
import { ApiError, type EventPayloads } from '@backlot/contract';
import { createOutbox } from '@backlot/database';
import { until } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  createTestBed,
  dayMs,
  ownerA,
  ownerB,
  type TestBed,
  testConfig,
} from '../testing/test-bed.ts';
import { createDeletion } from './deletion.ts';
import { createProjects } from './projects.ts';

describe('deleted projects', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  beforeEach(() => bed.takeEvents());

  const call = async (method: string, id: string, rest = '', body?: unknown) =>
    bed.call(method, `/platform/projects/${id}${rest}`, {
      identity: await bed.owner(ownerA, id),
      body,
    });
  const findStatus = async (id: string) =>
    (await bed.service.directories.projects.findProject(id))?.status;
  const erasedIds = async () =>
    (await bed.takeEvents())
      .filter((event) => event.topic === 'project.erased')
      .map((event) => (event.payload as { projectId: string }).projectId);

  it('are erased with their keys after 30 days, and every service is notified once', async () => {
    const kept = await bed.project();
    const recent = await bed.project();
    const gone = await bed.project();
    await call('POST', gone, '/keys', { name: 'k' });
    const number = (await bed.service.directories.projects.findProject(gone))?.number;
    await call('DELETE', gone);
    bed.pass(1);
    await call('DELETE', recent);
    bed.pass(30 * dayMs - 1);
    await bed.takeEvents();

    await Promise.all([bed.service.sweep(), bed.service.sweep()]);
    expect(await bed.takeEvents()).toEqual([
      { topic: 'project.erased', payload: { projectId: gone, projectNumber: number } },
    ]);
    expect(await findStatus(gone)).toBeUndefined();
    expect(await findStatus(recent)).toBe('deleted');
    expect(await findStatus(kept)).toBe('active');
    expect(
      await bed.database.query('SELECT 1 FROM keys WHERE project_number = $1', [number]),
    ).toEqual([]);
  });

  it('are erased in batches until none is left', async () => {
    await bed.database.query(
      `INSERT INTO projects (id, name, owner_id, created_at, updated_at, deleted_at)
       SELECT 'bulk-' || n, 'Bulk', $1, now(), now(), now() - interval '1 year' FROM generate_series(1, 250) AS n`,
      [ownerB],
    );
    await bed.service.sweep();
    expect((await erasedIds()).filter((id) => id.startsWith('bulk-'))).toHaveLength(250);
  });

  it('are either restored or erased when both are tried at once, never half', async () => {
    const outbox = createOutbox<EventPayloads>(bed.database, () => {});
    const deps = { database: bed.database, outbox, config: testConfig };
    const projects = createProjects({ ...deps, now: () => 0 });
    for (let round = 0; round < 8; round++) {
      const id = await bed.project();
      const projectNumber = (await bed.service.directories.projects.findProject(id))?.number ?? 0;
      await call('DELETE', id);
      bed.pass(30 * dayMs);
      // Another process, whose clock is behind: it still allows what this one already erases.
      const late = createDeletion({ ...deps, projects, now: () => bed.now() - 1 });
      const restored = late.restore({ projectNumber, ownerId: ownerA, anyOwner: false }).then(
        (project) => project.status,
        (error: unknown) => (error instanceof ApiError ? error.code : error),
      );
      await Promise.all([restored, bed.service.sweep()]);
      const erased = (await erasedIds()).includes(id);
      expect(await restored).toBe(erased ? 'project_not_found' : 'active');
      expect(await findStatus(id)).toBe(erased ? undefined : 'active');
    }
  });

  it('end in one state when deleting and restoring cross', async () => {
    const id = await bed.project();
    const identity = await bed.owner(ownerA, id);
    const path = `/platform/projects/${id}`;
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        n % 2 === 0
          ? bed.call('DELETE', path, { identity })
          : bed.call('POST', `${path}/restore`, { identity }),
      ),
    );
    for (const answer of answers) expect([200, 410]).toContain(answer.status);
    const shown = await bed.call('GET', path, { identity });
    expect(shown.status).toBe((await findStatus(id)) === 'deleted' ? 410 : 200);
  });

  it('are all those of an owner whose account was erased, once, and of nobody else', async () => {
    const ownerC = randomUUID();
    const mine = [await bed.project(ownerC), await bed.project(ownerC)];
    const others = await bed.project(ownerB);
    const inProject = await bed.service.directories.projects.findProject(others);
    await bed.takeEvents();
    await bed.service.start();
    const erased = (projectId: string, projectNumber: number, userId: string) =>
      bed.publish({
        id: randomUUID(),
        topic: 'user.erased',
        payload: { projectId, projectNumber, userId, email: 'owner@example.org' },
      });

    // A user of a project may have any id; only accounts of the built-in project are owners.
    await erased(others, inProject?.number ?? 0, ownerC);
    expect(await findStatus(mine[0] ?? '')).toBe('active');

    await erased('platform', 1, ownerC);
    await erased('platform', 1, ownerC);
    for (const id of mine) expect(await findStatus(id)).toBe('deleted');
    expect(await findStatus(others)).toBe('active');
    // The relay publishes what was stored, and it ends with the service.
    await until(
      () => bed.published().filter((event) => event.topic === 'project.changed').length === 2,
    );
    await bed.service.stop();
    const ids = bed.published().map((event) => (event.payload as { projectId: string }).projectId);
    expect([...ids].sort()).toEqual([...mine].sort());
  });
});
