import {
  givenRoles,
  neededRole,
  platformProject,
  type RouteDefinition,
  roleReaches,
  routes,
} from '@backlot/contract';
import { receiveEvents, until } from '@backlot/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestBed, ownerId, projectSnapshot, type TestBed } from './testing/test-bed.ts';

const account = (last: string) => `018f0000-0000-7000-8000-0000000000${last}`;
const [viewer, editor, admin, stranger] = ['01', '02', '03', '04'].map(account) as [
  string,
  string,
  string,
  string,
];
const accounts = { viewer, editor, admin };
const members = { [viewer]: 'viewer', [editor]: 'editor', [admin]: 'admin' } as const;

describe('members of a project', () => {
  let bed: TestBed;
  beforeEach(async () => {
    bed = await createTestBed();
    setMembers(members);
  });
  afterEach(() => bed.close());

  const setMembers = (now: Record<string, (typeof givenRoles)[number]>) =>
    bed.fake.projects.set('demo', projectSnapshot({ id: 'demo', number: 1001, members: now }));
  const tokenOf = (userId: string) => bed.token({ aud: platformProject.id, sub: userId });
  const call = (method: string, path: string, userId: string) =>
    bed.call(method, path, {
      token: tokenOf(userId),
      body: method === 'GET' || method === 'DELETE' ? undefined : {},
    });
  const pathOf = ({ plane, path }: RouteDefinition) =>
    (plane === 'platform' ? '/api/platform' : '/api/runtime/demo') +
    path.replace(':projectId', 'demo').replace(/:\w+/g, 'x1');

  it('reach with each role the routes that take no more, and no other', async () => {
    const judged = routes.filter(
      (route) =>
        neededRole(route) !== null &&
        !route.answeredBy &&
        !route.ignoresCredentials &&
        // Bytes and forms are bounded by themselves.
        route.takes === undefined &&
        route.servesPlatformProject === undefined,
    );
    expect(judged.length).toBeGreaterThan(100);
    for (const [index, route] of judged.entries()) {
      const needed = neededRole(route) ?? 'owner';
      for (const role of givenRoles) {
        bed.seen.length = 0;
        const { status, body } = await call(route.method, pathOf(route), accounts[role]);
        const isRefused = status === 403 && body.code === 'forbidden';
        const told = `${index} ${route.operationId} ${role}`;
        expect([told, isRefused]).toEqual([told, !roleReaches(role, needed)]);
        if (isRefused) expect(bed.seen).toEqual([]);
      }
      // Counters of the minute.
      bed.clock.now += 60_000;
    }
  }, 60_000);

  it('are named to services beside the owner, who pays', async () => {
    for (const path of ['/api/platform/projects/demo', '/api/runtime/demo/db/notes']) {
      const { body } = await call('GET', path, viewer);
      expect(body.identity).toMatchObject({
        caller: 'owner',
        userId: viewer,
        memberRole: 'viewer',
        project: { id: 'demo', ownerId },
      });
      const own = await call('GET', path, ownerId);
      expect(own.body.identity).toMatchObject({ caller: 'owner', userId: ownerId });
      expect(own.body.identity.memberRole).toBeUndefined();
    }
    const paid = await call('POST', '/api/runtime/demo/ai', editor);
    expect(paid.body.identity).toMatchObject({ userId: editor, reservation: {} });
  });

  it('who may not spend reserve nothing', async () => {
    for (const path of ['/ai', '/email/send'])
      expect((await call('POST', `/api/runtime/demo${path}`, viewer)).status).toBe(403);
    expect(await bed.counters.reserved(ownerId)).toBe(0);
    expect(bed.seen).toEqual([]);
  });

  it('are strangers in every other project, of the same owner too', async () => {
    bed.fake.projects.set('second', projectSnapshot({ id: 'second', number: 1003 }));
    for (const id of ['second', 'other', 'platform']) {
      const runtime = await call('GET', `/api/runtime/${id}/db/notes`, admin);
      expect([401, 404]).toContain(runtime.status);
      expect(await call('GET', `/api/platform/projects/${id}`, admin)).toMatchObject({
        status: 404,
        body: { code: 'project_not_found' },
      });
    }
    for (const userId of [stranger, '__proto__', 'constructor', 'toString']) {
      expect((await call('GET', '/api/platform/projects/demo', userId)).status).toBe(404);
      expect((await call('GET', '/api/runtime/demo/db/notes', userId)).status).toBe(401);
    }
    expect(bed.seen).toEqual([]);
  });

  it('are judged anew once the project says that it has changed', async () => {
    const paths = ['/api/platform/projects/demo', '/api/runtime/demo/db/notes'];
    for (const path of paths) expect((await call('GET', path, admin)).status).toBe(200);
    setMembers({ ...members, [admin]: 'viewer' });
    await bed.publish('project.changed', { projectId: 'demo', projectNumber: 1001 });
    expect((await call('GET', '/api/platform/projects/demo/keys', admin)).status).toBe(403);
    for (const path of paths)
      expect((await call('GET', path, admin)).body.identity.memberRole).toBe('viewer');
    setMembers({ [viewer]: 'viewer' });
    await bed.publish('project.changed', { projectId: 'demo', projectNumber: 1001 });
    const statuses = [];
    for (const path of paths) statuses.push((await call('GET', path, admin)).status);
    expect(statuses).toEqual([404, 401]);
  });
});

describe('a stream of a member', () => {
  let bed: TestBed | undefined;
  afterEach(() => bed?.close());

  it.each([
    ['/api/runtime/demo/events?collections=todos', {}, 'credential'],
    ['/api/platform/projects/demo/requests/stream', {}, 'project'],
    ['/api/runtime/demo/events?collections=todos', { [admin]: 'viewer' as const }, 'access'],
  ])('%s ends when they are removed or have another role', async (path, after, reason) => {
    bed = await createTestBed({
      service: () => (_req, res) => {
        res.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' });
        res.write('event: ready\ndata: {}\n\n');
      },
    });
    const set = (now: Record<string, 'viewer' | 'admin'>) =>
      bed?.fake.projects.set('demo', projectSnapshot({ id: 'demo', number: 1001, members: now }));
    set({ [admin]: 'admin' });
    const token = bed.token({ aud: platformProject.id, sub: admin });
    const stream = await receiveEvents(bed.url + path, { authorization: `Bearer ${token}` });
    await stream.take(1, 'ready');
    set(after);
    await bed.publish('project.changed', { projectId: 'demo', projectNumber: 1001 });
    const [end] = await stream.take(1, 'end');
    expect(end?.data.reason).toBe(reason);
    await until(() => stream.isClosed());
  });
});
