import { randomUUID } from 'node:crypto';
import { type CallBatch, type LoggedCall, requestRoutes } from '@backlot/contract';
import { type Identity, internalIdentity } from '@backlot/identity';
import { anonymous, asKey, asUser, refusesStrangers, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { failing as failingAt, line as lineAt } from '../testing/calls.ts';
import { createTestBed, dayMs, ownerA, ownerB, type TestBed } from '../testing/test-bed.ts';

const userId = '018f0000-0000-7000-8000-00000000cccc';

describe('the log of calls', () => {
  let bed: TestBed;
  let projectId: string;
  let projectNumber: number;
  const gateway = randomUUID();
  let batches = 0;
  beforeAll(async () => {
    bed = await createTestBed();
    await bed.service.start();
    ({ projectId, projectNumber } = await makeProject());
  });
  afterAll(() => bed.close());

  const makeProject = async (owner = ownerA) => {
    const id = await bed.project(owner);
    const found = await bed.service.directories.projects.findProject(id);
    return { projectId: id, projectNumber: found?.number ?? 0 };
  };
  const at = (ms: number) => new Date(bed.now() + ms).toISOString();
  const line = (changes: Partial<LoggedCall> = {}) => lineAt({ at: at(0), ...changes });
  const failing = (changes: Partial<LoggedCall> = {}) => failingAt({ at: at(0), ...changes });
  const batch = (
    calls: LoggedCall[],
    of = projectNumber,
    more: Partial<CallBatch['projects'][number]> = {},
  ): CallBatch => {
    batches += 1;
    return { gateway, number: batches, projects: [{ projectNumber: of, calls, ...more }] };
  };
  const take = (...asked: Parameters<typeof batch>) =>
    bed.service.directories.callLog.takeCalls(batch(...asked));
  const list = async (query = '', of = projectId, owner = ownerA) => {
    const { status, body } = await bed.call('GET', `/platform/projects/${of}/requests${query}`, {
      identity: await bed.owner(owner, of),
    });
    expect([status, body.code]).toEqual([200, undefined]);
    return body;
  };
  const paths = async (query = '', of = projectId) =>
    (await list(query, of)).items.map(({ path }: LoggedCall) => path);

  for (const definition of [requestRoutes.listRequests, requestRoutes.streamRequests]) {
    const path = () => definition.path.replace(':projectId', projectId);
    refusesStrangers(
      definition,
      () => bed.http,
      () => ({ path: path() }),
    );
    it(`${definition.operationId} shows nothing to another owner, a user or another project's key`, async () => {
      await take([line()]);
      const other = await makeProject(ownerB);
      const { project } = await bed.owner(ownerB, other.projectId);
      const ofOther = await bed.owner(ownerB, projectId);
      for (const identity of [ofOther, asKey({ project }), asUser(userId)]) {
        const { status } = await bed.call('GET', `/platform${path()}`, { identity });
        expect([401, 403, 404]).toContain(status);
      }
      const gone = await makeProject();
      const owner = await bed.owner(ownerA, gone.projectId);
      await bed.call('DELETE', `/platform/projects/${gone.projectId}`, { identity: owner });
      const ofGone = `/platform${definition.path.replace(':projectId', gone.projectId)}`;
      expect((await bed.call('GET', ofGone, { identity: owner })).status).toBe(410);
    });
  }

  it('shows calls newest first, page by page, and to keys of the project', async () => {
    const own = await makeProject();
    await take(
      Array.from({ length: 5 }, (_, n) => line({ path: `/db/notes/${n}` })),
      own.projectNumber,
    );
    const first = await list('?limit=2', own.projectId);
    expect(first).toMatchObject({
      items: [
        { type: 'call', path: '/db/notes/4', client: 'shop.example' },
        { path: '/db/notes/3' },
      ],
      hasMore: true,
    });
    const rest = await list(`?limit=3&cursor=${first.cursor}`, own.projectId);
    expect(rest.items.map(({ path }: LoggedCall) => path)).toEqual(
      [2, 1, 0].map((n) => `/db/notes/${n}`),
    );
    expect([rest.hasMore, rest.cursor]).toEqual([false, null]);
    const { project } = await bed.owner(ownerA, own.projectId);
    const byKey = await bed.call('GET', `/platform/projects/${own.projectId}/requests`, {
      identity: asKey({ project }),
    });
    expect(byKey.body.items).toHaveLength(5);
    const foreign = await bed.call(
      'GET',
      `/platform/projects/${projectId}/requests?cursor=${first.cursor}`,
      { identity: await bed.owner(ownerA, projectId) },
    );
    expect(foreign).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } });
  });

  it('finds calls by status, path, method, user and time', async () => {
    const own = await makeProject();
    await take(
      [
        line({ path: '/db/a', at: at(-5000) }),
        failing({ path: '/db/b', method: 'POST', userId, caller: 'user', at: at(-4000) }),
        failing({ path: '/nowhere', route: null, status: 404, at: at(-3000) }),
        failing({ path: '/ai', route: '/ai', status: 503, at: at(-2000) }),
      ],
      own.projectNumber,
    );
    const find = (query: string) => paths(query, own.projectId);
    expect(await find('?status=failed')).toEqual(['/ai', '/nowhere', '/db/b']);
    expect(await find('?status=4xx')).toEqual(['/nowhere', '/db/b']);
    expect(await find('?status=404')).toEqual(['/nowhere']);
    expect(await find('?path=/db/')).toEqual(['/db/b', '/db/a']);
    expect(await find('?path=:collection')).toEqual(['/db/b', '/db/a']);
    expect(await find('?method=POST')).toEqual(['/db/b']);
    expect(await find(`?userId=${userId.toUpperCase()}`)).toEqual(['/db/b']);
    expect(await find(`?since=${at(-3000)}`)).toEqual(['/ai', '/nowhere']);
    expect(await find(`?path=${encodeURIComponent("%' OR 1=1 --")}`)).toEqual([]);
    for (const wrong of [
      'status=9xx',
      'method=GETS',
      'userId=me',
      'since=today',
      'foo=1',
      'path=',
    ]) {
      const answer = await bed.call(
        'GET',
        `/platform/projects/${own.projectId}/requests?${wrong}`,
        {
          identity: await bed.owner(ownerA, own.projectId),
        },
      );
      expect([wrong, answer.status, answer.body.code]).toEqual([wrong, 400, 'invalid_query']);
    }
  });

  it('says where calls are missing, whatever is looked for', async () => {
    const own = await makeProject();
    const lost = {
      since: new Date(bed.now() - 1000).toISOString(),
      until: new Date(bed.now()).toISOString(),
      calls: 12,
    };
    await take([line()], own.projectNumber, { lost });
    const { items } = await list('?status=failed', own.projectId);
    expect(items).toEqual([{ type: 'gap', at: lost.until, since: lost.since, calls: 12 }]);
  });

  it('takes a batch once, in parallel too, and batches of many gateways without a deadlock', async () => {
    const own = [await makeProject(), await makeProject(), await makeProject()];
    const numbers = own.map(({ projectNumber: of }) => of);
    const from = (sender: string, number: number, of: number[]): CallBatch => ({
      gateway: sender,
      number,
      projects: of.map((one) => ({ projectNumber: one, calls: [line(), failing()] })),
    });
    const senders = Array.from({ length: 6 }, () => randomUUID());
    const { takeCalls } = bed.service.directories.callLog;
    await Promise.all(
      senders.flatMap((sender, n) => {
        const order = n % 2 === 0 ? numbers : [...numbers].reverse();
        return [1, 1, 1].map((number) => takeCalls(from(sender, number, order)));
      }),
    );
    for (const { projectId: of } of own) expect((await list('', of)).items).toHaveLength(12);
  });

  it('keeps nothing of projects that are not there, and none of the built-in one', async () => {
    await take([line()], 987_654_321);
    await take([line()], 1);
    const rows = await bed.database.query(
      'SELECT 1 FROM call_lines WHERE project_number IN (1, 987654321)',
    );
    expect(rows).toEqual([]);
  });

  it('keeps the newest 10,000 calls of 3 days, and erases the others', async () => {
    const own = await makeProject();
    const many = Array.from({ length: 500 }, () => line());
    for (let n = 0; n < 21; n++) await take(many, own.projectNumber);
    const count = async () => {
      const [row] = await bed.database.query<{ lines: number }>(
        'SELECT count(*) AS lines FROM call_lines WHERE project_number = $1',
        [own.projectNumber],
      );
      return row?.lines;
    };
    let seen = 0;
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await list(`?limit=1000${cursor && `&cursor=${cursor}`}`, own.projectId);
      seen += page.items.length;
      cursor = page.cursor;
    }
    expect(seen).toBe(requestRoutes.keptCalls);
    while (await bed.service.keepCallBounds());
    expect(await count()).toBe(requestRoutes.keptCalls);

    bed.pass(4 * dayMs);
    expect(await paths('', own.projectId)).toEqual([]);
    await take([line()], own.projectNumber);
    while (await bed.service.keepCallBounds());
    expect(await count()).toBe(1);
  });

  it('gives owners with most lines less, so that all fit, and leaves others theirs', async () => {
    const greedy = [
      await makeProject(ownerB),
      await makeProject(ownerB),
      await makeProject(ownerB),
    ];
    const modest = await makeProject();
    const many = Array.from({ length: 400 }, () => line());
    for (const { projectNumber: of } of greedy) await take(many, of);
    await take([line(), line()], modest.projectNumber);
    while (await bed.service.keepCallBounds({ owner: 800, all: 1_000_000 }));
    const lines = async ({ projectId: of }: typeof modest, owner = ownerA) =>
      (await list('?limit=1000', of, owner)).items.length;
    const sums = await Promise.all(greedy.map((one) => lines(one, ownerB)));
    const sum = sums.reduce((a, b) => a + b);
    expect(sum).toBeLessThanOrEqual(800);
    expect(sum).toBeGreaterThan(400);
    expect(await lines(modest)).toBe(2);
  });

  it('loses all lines of a user who is erased, those on their way and those that name them too', async () => {
    const own = await makeProject();
    const ofUser = () => line({ userId, caller: 'user', path: '/auth/me' });
    const naming = line({ path: `/api/platform/projects/${own.projectId}/users/${userId}` });
    await take([ofUser(), naming, line({ path: '/db/stays' })], own.projectNumber);
    await bed.publish({
      id: randomUUID(),
      topic: 'user.erased',
      payload: {
        projectId: own.projectId,
        projectNumber: own.projectNumber,
        userId,
        email: 'ada@example.com',
      },
    });
    await until(async () => (await paths('', own.projectId)).length === 1);
    await take([ofUser()], own.projectNumber);
    while (await bed.service.keepCallBounds());
    expect(await paths('', own.projectId)).toEqual(['/db/stays']);
  });

  it('has the lines of a guest who is merged as the user’s', async () => {
    const own = await makeProject();
    const guestId = '018f0000-0000-7000-8000-00000000abcd';
    await take([line({ userId: guestId, caller: 'user', path: '/db/guests' })], own.projectNumber);
    const payload = { ...own, guestId, userId };
    await bed.publish({ id: randomUUID(), topic: 'user.merged', payload });
    const { items } = await list(`?userId=${userId}`, own.projectId);
    expect(items).toMatchObject([{ path: '/db/guests', userId }]);
  });

  it('loses all lines of a project that is erased', async () => {
    const id = await bed.project();
    const number = (await bed.service.directories.projects.findProject(id))?.number ?? 0;
    await take([line()], number);
    const identity = await bed.owner(ownerA, id);
    await bed.call('DELETE', `/platform/projects/${id}`, { identity });
    bed.pass(31 * dayMs);
    await bed.database.acrossProjects(() => bed.service.sweep());
    const rows = await bed.database.query(
      'SELECT 1 FROM call_lines WHERE project_number = $1 UNION ALL SELECT 1 FROM call_logs WHERE project_number = $1',
      [number],
    );
    expect(rows).toEqual([]);
  });

  it('takes batches from the gateway alone, and refuses what is none', async () => {
    const post = (body: unknown, identity: Identity | null = internalIdentity) =>
      bed.call('POST', '/internal/calls', { identity, body });
    expect(await post(batch([line()]))).toMatchObject({ status: 200 });
    for (const wrong of [{}, { gateway: 'x' }, { ...batch([]), number: 0 }])
      expect((await post(wrong)).status).toBe(400);
    for (const identity of [null, anonymous(), await bed.owner(ownerA), await bed.operator()])
      expect((await post(batch([line()]), identity)).status).toBe(401);
  });
});
