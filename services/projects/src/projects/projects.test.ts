import { readFile } from 'node:fs/promises';
import type { EventPayloads } from '@backlot/contract';
import { createOutbox } from '@backlot/database';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, ownerA, type TestBed, testConfig } from '../testing/test-bed.ts';
import { createNewProjects } from './new-projects.ts';
import { isProjectId, randomProjectId } from './project-id.ts';
import { createProjects } from './projects.ts';

describe('project ids', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  const projectsWith = (ids: string[]) => {
    const outbox = createOutbox<EventPayloads>(bed.database, () => {});
    const deps = { database: bed.database, config: testConfig, now: Date.now };
    return createNewProjects({
      ...deps,
      projects: createProjects({ ...deps, outbox }),
      owners: { isVerified: async () => true },
      newId: () => ids.shift() ?? 'taken',
    });
  };

  it('are drawn again when taken', async () => {
    await bed.service.ensureProject({ id: 'taken', name: 'First', ownerId: ownerA });
    const create = await projectsWith(['taken', 'platform', 'free']).prepare({
      ownerId: ownerA,
      name: 'Second',
    });
    expect((await create()).id).toBe('free');
    expect(await bed.service.directories.projects.findProject('taken')).toMatchObject({
      name: 'First',
    });
  });

  it('are not drawn for ever, and a creation that found none leaves nothing behind', async () => {
    await bed.takeEvents();
    const create = await projectsWith([]).prepare({ ownerId: ownerA, name: 'Third' });
    await expect(create()).rejects.toThrow('No free project id');
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

describe('names from before they had to be one line', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  it('are put on one line by the migration, and all others are left alone', async () => {
    const names = ['Shop\r\nBcc: all', '\u202E\u0007', 'Zoë’s 👩‍👩‍👧 shop'];
    const ids = await Promise.all(names.map(() => bed.project()));
    for (const [n, id] of ids.entries())
      await bed.database.query('UPDATE projects SET name = $2 WHERE id = $1', [id, names[n]]);
    const file = new URL('../../migrations/0004_names_on_one_line.sql', import.meta.url);
    await bed.ownerDatabase.query(await readFile(file, 'utf8'));
    const stored = await Promise.all(
      ids.map((id) => bed.service.directories.projects.findProject(id)),
    );
    expect(stored.map((project) => project?.name)).toEqual(['Shop Bcc: all', 'Unnamed', names[2]]);
  });
});
