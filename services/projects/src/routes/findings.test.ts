import { randomUUID } from 'node:crypto';
import { type CallSum, operatorRoutes, type SeenFinding } from '@backlot/contract';
import { refusesStrangers, until } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestBed, dayMs, ownerA, ownerB, type TestBed } from '../testing/test-bed.ts';

const hourMs = 60 * 60_000;

describe('findings over all projects', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
    await bed.service.start();
  });
  afterAll(() => bed.close());
  beforeEach(() => bed.database.query('DELETE FROM findings'));

  const onOne = (what: string) => () => ({ path: `/findings/${randomUUID()}/${what}`, body: {} });
  refusesStrangers(
    operatorRoutes.listFindings,
    () => bed.http,
    () => ({ path: '/findings' }),
  );
  refusesStrangers(operatorRoutes.tellFinding, () => bed.http, onOne('notice'));
  refusesStrangers(operatorRoutes.dismissFinding, () => bed.http, onOne('dismiss'));
  refusesStrangers(operatorRoutes.reopenFinding, () => bed.http, onOne('reopen'));

  const findNumber = async (projectId: string) =>
    (await bed.service.directories.projects.findProject(projectId))?.number ?? 0;
  const take = async (projectId: string, name: string, changes: Partial<CallSum>) => {
    const none = { errors: 0, refusals: 0, faults: 0, bytes: 0, databaseUs: 0, threadUs: 0 };
    const projectNumber = await findNumber(projectId);
    const item = { kind: 'route' as const, projectNumber, name, calls: 0, ...none, ...changes };
    await bed.service.directories.callLog.takeCalls({
      gateway: randomUUID(),
      number: 1,
      projects: [],
      sums: { since: new Date(bed.now()).toISOString(), items: [item] },
    });
  };
  const see = async (projectId: string, changes: Partial<SeenFinding> = {}) => {
    const one: SeenFinding = {
      kind: 'exposure',
      subject: 'contacts',
      signs: ['email'],
      calls: 3,
      examples: ['address'],
      ...changes,
    };
    const payload = { projectNumber: await findNumber(projectId), seen: [one] };
    await bed.publish({ id: randomUUID(), topic: 'finding.seen', payload });
  };
  const call = async (method: 'GET' | 'POST', path: string, body?: unknown) =>
    bed.call(method, `/platform/findings${path}`, { identity: await bed.operator(), body });
  const find = async (query = '') => {
    const { status, body } = await call('GET', query);
    expect(status).toBe(200);
    return body.items;
  };
  /** All of a project that were told, once there are so many. */
  const told = (projectId: string, count: number) =>
    until(() => {
      const events = bed
        .published()
        .filter(
          ({ topic, payload }) =>
            topic === 'finding.told' && (payload as { projectId: string }).projectId === projectId,
        );
      return events.length >= count && events;
    });

  it('are bursts, with their networks, and neither steady use nor what fails', async () => {
    const burst = await bed.project(ownerA);
    const steady = await bed.project(ownerB);
    const quiet = await bed.project(ownerB);
    for (let hour = 0; hour < 100; hour++) {
      await take(steady, 'sendEmail', { calls: 200 });
      bed.pass(hourMs);
    }
    await take(steady, 'sendEmail', { calls: 250 });
    await take(burst, 'sendEmail', { calls: 400, errors: 20 });
    await take(burst, '203.0.113.0/24', { kind: 'address', calls: 390 });
    await take(burst, '198.51.100.0/24', { kind: 'address', calls: 10 });
    await take(burst, 'createRecord', { calls: 900, errors: 800, refusals: 800 });
    await take(burst, 'signUp', { calls: 900, errors: 890 });
    await take(quiet, 'sendEmail', { calls: 99 });
    await bed.service.findBursts();
    await bed.service.findBursts();
    const items = await find();
    expect(items).toHaveLength(2);
    expect(items).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ kind: 'refusedWrites', projectId: burst, calls: 800 }),
        {
          id: expect.any(String),
          kind: 'mails',
          projectId: burst,
          projectName: 'A project',
          ownerId: ownerA,
          subject: null,
          signs: [],
          examples: [],
          since: expect.any(String),
          lastSeen: expect.any(String),
          calls: 380,
          usualPerHour: 0,
          networks: [
            { address: '203.0.113.0/24', calls: 390 },
            { address: '198.51.100.0/24', calls: 10 },
          ],
          capability: 'mail',
          isSuspended: false,
          toldAt: null,
          dismissedUntil: null,
        },
      ]),
    );
  });

  it('are what services have seen, once for each subject, from so many on', async () => {
    const project = await bed.project();
    await see(project);
    await see(project, { signs: ['card'], calls: 4, examples: ['number'] });
    await see(project, { kind: 'mailWords', subject: '', signs: ['prize'], calls: 2 });
    expect(await find(`?projectId=${project}`)).toMatchObject([
      {
        kind: 'exposure',
        subject: 'contacts',
        signs: ['card', 'email'],
        calls: 7,
        examples: ['number'],
        capability: 'all',
      },
    ]);
    await see(project, { kind: 'mailWords', subject: '', signs: ['prize'], calls: 1 });
    expect(await find('?kind=mailWords')).toMatchObject([{ calls: 3, capability: 'mail' }]);
    expect(await find('?kind=mails')).toEqual([]);
  });

  it('come in pages, of projects that are there', async () => {
    const gone = await bed.project();
    await see(gone);
    await bed.call('DELETE', `/platform/projects/${gone}`, {
      identity: await bed.owner(ownerA, gone),
    });
    const projects = [];
    for (let n = 0; n < 3; n++) {
      projects.unshift(await bed.project());
      await see(projects[0] ?? '');
      bed.pass(1000);
    }
    const { body } = await call('GET', '?limit=2');
    const rest = await find(`?limit=2&cursor=${body.nextCursor}`);
    const ids = [...body.items, ...rest].map((item: { projectId: string }) => item.projectId);
    expect([ids, body.hasMore]).toEqual([projects, true]);
  });

  it('are kept of a project in a number that is bounded', async () => {
    const project = await bed.project();
    for (let n = 0; n < 101; n++) await see(project, { subject: `collection-${n}` });
    await see(project, { subject: 'collection-0' });
    const rows = await bed.database.query<{ calls: number }>('SELECT calls FROM findings');
    expect(rows).toHaveLength(100);
    expect(Math.max(...rows.map(({ calls }) => calls))).toBe(6);
  });

  it('have the owner told once, however many calls ask at once', async () => {
    const project = await bed.project();
    await see(project);
    const [{ id }] = await find();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => call('POST', `/${id}/notice`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([
      200,
      ...Array.from({ length: 7 }, () => 409),
    ]);
    expect(await told(project, 1)).toMatchObject([
      {
        payload: {
          projectId: project,
          projectName: 'A project',
          ownerId: ownerA,
          kind: 'exposure',
          subject: 'contacts',
          signs: ['email'],
          calls: 3,
        },
      },
    ]);
    expect((await find())[0].toldAt).toEqual(expect.any(String));
    await see(project);
    expect((await call('POST', `/${id}/notice`)).body.code).toBe('conflict');
    await see(project, { signs: ['secret'] });
    expect((await call('POST', `/${id}/notice`)).status).toBe(200);
  });

  it('have an owner told of ten in a day, and nobody where there is none', async () => {
    const project = await bed.project(ownerB);
    for (let n = 0; n < 11; n++) await see(project, { subject: `collection-${n}` });
    const items = (await find()) as { id: string }[];
    const answers = await Promise.all(items.map(({ id }) => call('POST', `/${id}/notice`)));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.map(({ body }) => body.code)).toEqual(['limit_reached']);
    expect(await told(project, 10)).toHaveLength(10);
    bed.pass(dayMs);
    const last = (await find()).find(({ toldAt }: { toldAt: unknown }) => toldAt === null);
    bed.owners.unknown.add(ownerB);
    expect((await call('POST', `/${last.id}/notice`)).body.code).toBe('conflict');
    bed.owners.areUnavailable = true;
    expect((await call('POST', `/${last.id}/notice`)).status).toBe(503);
    bed.owners.areUnavailable = false;
    bed.owners.unknown.clear();
    expect((await call('POST', `/${last.id}/notice`)).status).toBe(200);
  });

  it('are dismissed for a while, until they are reopened or have a further sign', async () => {
    const project = await bed.project();
    await see(project);
    const [{ id }] = await find();
    const { body } = await call('POST', `/${id}/dismiss`, { days: 2 });
    expect(body.dismissedUntil).toBe(new Date(bed.now() + 2 * dayMs).toISOString());
    await see(project);
    expect([await find(), (await find('?dismissed=true')).length]).toEqual([[], 1]);
    expect((await call('POST', `/${id}/reopen`)).body.dismissedUntil).toBeNull();
    expect(await find()).toHaveLength(1);
    await call('POST', `/${id}/dismiss`, {});
    await see(project, { signs: ['card'] });
    expect(await find()).toHaveLength(1);
    await call('POST', `/${id}/dismiss`, { days: 2 });
    bed.pass(2 * dayMs);
    expect(await find()).toMatchObject([{ id, dismissedUntil: null }]);
  });

  it('say whether what stops them is suspended already', async () => {
    const project = await bed.project();
    await see(project, { kind: 'fileNames', subject: '' });
    const suspend = async (capability: string) =>
      bed.call('POST', `/platform/projects/${project}/suspend`, {
        identity: await bed.operator(project),
        body: { capability, reason: 'spam' },
      });
    await suspend('mail');
    expect(await find()).toMatchObject([{ isSuspended: false, capability: 'uploads' }]);
    await suspend('uploads');
    expect(await find()).toMatchObject([{ isSuspended: true }]);
  });

  it('are told, dismissed and reopened by the audit log, with their project', async () => {
    const project = await bed.project();
    await see(project);
    const [{ id }] = await find();
    await call('POST', `/${id}/dismiss`, {});
    const line = await until(async () => {
      const { body } = await bed.call(
        'GET',
        `/platform/audit?action=dismissFinding&projectId=${project}`,
        {
          identity: await bed.operator(),
        },
      );
      return body.items[0];
    });
    expect(line).toMatchObject({
      action: 'dismissFinding',
      target: `findings/${id}/dismiss`,
      ownerId: ownerA,
      before: { dismissedUntil: null },
      after: { kind: 'exposure', subject: 'contacts', dismissedUntil: expect.any(String) },
    });
  });

  it('are nobody’s under an id that names none', async () => {
    for (const id of ['none', randomUUID()])
      for (const what of ['notice', 'dismiss', 'reopen'])
        expect((await call('POST', `/${id}/${what}`, {})).body.code).toBe('not_found');
  });
});
