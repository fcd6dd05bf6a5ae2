import { createHash } from 'node:crypto';
import { defaultLimits } from '@backlot/contract';
import { internalIdentity } from '@backlot/identity';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, ownerA, type TestBed } from '../testing/test-bed.ts';

const ofTests = { ...defaultLimits, ai: { perCaller: 7, perProject: 70 } };

describe('directory', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed({ defaultLimits: ofTests });
  });
  afterAll(() => bed.close());

  it('knows the built-in project from the start, as number 1', async () => {
    expect(await bed.service.directories.projects.findProject('platform')).toEqual({
      id: 'platform',
      number: 1,
      name: 'Backlot',
      ownerId: null,
      status: 'active',
      settings: {},
      hasFreeMail: true,
      limits: ofTests,
    });
  });

  it('answers null for what does not exist and for what no id or hash looks like', async () => {
    for (const id of [
      'unknown',
      '',
      'Platform',
      'a\0b',
      'x'.repeat(10_000),
      "'; DROP TABLE projects",
    ]) {
      expect(await bed.service.directories.projects.findProject(id)).toBeNull();
    }
    for (const hash of [
      createHash('sha256').update('x').digest('base64url'),
      '',
      'a',
      '\0',
      'x'.repeat(10_000),
    ]) {
      expect(await bed.service.directories.projects.findKey(hash)).toBeNull();
    }
  });

  it('tells projects from before mail templates, whose visitors go on to send their own words', async () => {
    await bed.service.ensureProject({ id: 'older', name: 'Older', ownerId: ownerA });
    const { projects } = bed.service.directories;
    expect(await projects.findProject('older')).not.toHaveProperty('hasFreeMail');
    await bed.database.query("UPDATE projects SET has_free_mail = true WHERE id = 'older'");
    expect(await projects.findProject('older')).toMatchObject({ hasFreeMail: true, settings: {} });
  });

  it('ensures a project of a chosen id once, also when two processes start at once', async () => {
    await bed.takeEvents();
    const seed = { id: 'demo', name: 'Demo', ownerId: ownerA };
    const [one, two] = await Promise.all([
      bed.service.ensureProject(seed),
      bed.service.ensureProject(seed),
    ]);
    expect(one).toMatchObject({ id: 'demo', name: 'Demo', ownerId: ownerA, status: 'active' });
    expect(two).toEqual(one);
    expect(await bed.service.ensureProject({ ...seed, name: 'Renamed' })).toEqual(one);
    expect(await bed.takeEvents()).toHaveLength(1);
    await expect(bed.service.ensureProject({ ...seed, id: 'No id' })).rejects.toThrow(
      'can not be the id',
    );
  });

  it('knows which keys are live: none that was revoked, is over, or is of another project', async () => {
    const id = await bed.project();
    const identity = await bed.owner(ownerA, id);
    const path = `/platform/projects/${id}/keys`;
    const create = async (expiresAt?: string): Promise<string> => {
      const body = { name: 'k', expiresAt };
      return (await bed.call('POST', path, { identity, body })).body.id;
    };
    const inAnHour = new Date(bed.clock.now() + 3_600_000).toISOString();
    const [stays, ends, revoked] = [await create(), await create(inAnHour), await create()];
    const { keys, projects } = bed.service.directories;
    const number = (await projects.findProject(id))?.number ?? 0;
    const live = () => Promise.all([stays, ends, revoked].map((key) => keys.isLive(number, key)));
    expect(await live()).toEqual([true, true, true]);
    expect(await keys.isLive(number + 1, stays)).toBe(false);
    await bed.call('DELETE', `${path}/${revoked}`, { identity });
    bed.clock.pass(3_600_001);
    expect(await live()).toEqual([true, false, false]);
  });

  it('answers the same over HTTP, to the gateway alone', async () => {
    const id = await bed.project();
    const identity = await bed.owner(ownerA, id);
    const { body: key } = await bed.call('POST', `/platform/projects/${id}/keys`, {
      identity,
      body: { name: 'k' },
    });
    const hash = createHash('sha256').update(key.key).digest('base64url');
    const ask = (path: string, who = internalIdentity) =>
      bed.call('GET', `/internal${path}`, { identity: who });

    const project = await bed.service.directories.projects.findProject(id);
    expect(await ask(`/projects/${id}`)).toMatchObject({ status: 200, body: project });
    expect(await ask(`/keys/${hash}`)).toMatchObject({
      status: 200,
      body: { id: key.id, projectNumber: project?.number },
    });
    const at = `/live-keys/${project?.number}/${key.id}`;
    expect(await ask(at)).toMatchObject({ status: 200, body: { live: true } });
    expect((await ask('/live-keys/0/x')).body).toEqual({ live: false });
    expect((await ask(at, identity)).status).toBe(401);
    for (const path of ['/projects/unknown', '/projects/a%00b', '/keys/x', '/nothing']) {
      expect((await ask(path)).status).toBe(404);
    }
    for (const who of [identity, await bed.operator(id), await bed.operator()]) {
      expect(await ask(`/projects/${id}`, who)).toMatchObject({
        status: 401,
        body: { code: 'unauthenticated' },
      });
    }
    expect((await bed.call('GET', `/internal/keys/${hash}`)).status).toBe(401);
  });
});
