import { createOutbox } from '@backlot/database';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isProjectId, randomProjectId } from './project-id.ts';
import { createProjects } from './projects.ts';
import { createTestBed, ownerA, type TestBed, testConfig } from './test-bed.ts';

describe('project ids', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  const projectsWith = (ids: string[]) =>
    createProjects({
      database: bed.database,
      outbox: createOutbox(bed.database, () => {}),
      config: testConfig,
      now: Date.now,
      newId: () => ids.shift() ?? 'taken',
    });

  it('are drawn again when taken', async () => {
    await bed.service.ensureProject({ id: 'taken', name: 'First', ownerId: ownerA });
    const project = await projectsWith(['taken', 'platform', 'free']).create({
      ownerId: ownerA,
      name: 'Second',
    });
    expect(project.id).toBe('free');
    expect(await bed.service.directory.findProject('taken')).toMatchObject({ name: 'First' });
  });

  it('are not drawn for ever, and a creation that found none leaves nothing behind', async () => {
    await bed.takeEvents();
    await expect(projectsWith([]).create({ ownerId: ownerA, name: 'Third' })).rejects.toThrow(
      'No free project id',
    );
    expect(await bed.takeEvents()).toEqual([]);
  });

  it('are twelve characters that can not be mistaken for each other', () => {
    for (let n = 0; n < 1000; n++) {
      const id = randomProjectId();
      expect(id).toMatch(/^[a-hjkmnp-z][a-hjkmnp-z2-9]{11}$/);
      expect(isProjectId(id)).toBe(true);
    }
  });
});
