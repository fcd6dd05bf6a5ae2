import { routes } from '@backlot/contract';
import { asKey, asOwner, asUser, type TestRequest, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';

const identity = asUser(ada);
const owner = asOwner();
const platform = `/platform/projects/${testProject.id}/collections`;

type Found = { n: number; id: string }[];

interface Write {
  method: string;
  path: (id: string) => string;
  request: TestRequest;
  /** What has to be there before; answers the body that follows from it, where one does. */
  prepare?: (bed: TestBed, id: string) => Promise<object | undefined>;
  /** What is there once it was done, from the collection that has one record of 1. */
  done: (bed: TestBed, collection: string) => Promise<unknown>;
  expected: unknown;
}

const numbers = async (bed: TestBed, collection: string) => {
  const { body } = await bed.call('GET', `/db/${collection}`, { identity: asKey() });
  return (body.items as Found).map(({ n }) => n).sort();
};
const shares = async (bed: TestBed) => {
  const rows = await bed.database.query<{ count: number }>('SELECT count(*) FROM shares');
  return rows[0]?.count;
};
const reports = async (bed: TestBed) => {
  const rows = await bed.database.query<{ count: number }>('SELECT count(*) FROM reports');
  return rows[0]?.count;
};
const collections = async (bed: TestBed) => {
  const { body } = await bed.call('GET', platform, { identity: owner });
  return (body.items as { name: string }[]).map(({ name }) => name);
};

const restorePoints = `/platform/projects/${testProject.id}/restore-points`;
const points = async (bed: TestBed) => {
  const { body } = await bed.call('GET', restorePoints, { identity: owner });
  return (body.items as { name: string }[]).map(({ name }) => name);
};

const trash = `/platform/projects/${testProject.id}/trash/collections`;
const trashed = async (bed: TestBed) => {
  const { body } = await bed.call('GET', trash, { identity: owner });
  return (body.items as { name: string }[]).map(({ name }) => name);
};

const access = { read: ['owner', 'shared'], create: ['users'], change: ['owner'] };

/** By operation; each has a collection of its name. */
const writes: Record<string, Write> = {
  createRecord: {
    method: 'POST',
    path: () => '/db/createRecord',
    request: { identity, body: { data: { n: 5 } } },
    done: numbers,
    expected: [1, 5],
  },
  updateRecord: {
    method: 'PATCH',
    path: (id) => `/db/updateRecord/${id}`,
    request: { identity, body: { inc: { n: 1 } } },
    done: numbers,
    expected: [2],
  },
  replaceRecord: {
    method: 'PUT',
    path: (id) => `/db/replaceRecord/${id}`,
    request: { identity, body: { data: { n: 7 } } },
    done: numbers,
    expected: [7],
  },
  deleteRecord: {
    method: 'DELETE',
    path: (id) => `/db/deleteRecord/${id}`,
    request: { identity },
    done: numbers,
    expected: [],
  },
  deleteRecords: {
    method: 'DELETE',
    path: () => `/db/deleteRecords?where=${encodeURIComponent('{"n":1}')}`,
    request: { identity: owner },
    done: numbers,
    expected: [],
  },
  writeBatch: {
    method: 'POST',
    path: () => '/db/writeBatch/_batch',
    request: { identity, body: { create: [{ data: { n: 5 } }, { data: { n: 6 } }] } },
    done: numbers,
    expected: [1, 5, 6],
  },
  shareRecord: {
    method: 'PUT',
    path: (id) => `/db/shareRecord/${id}/_shares`,
    request: { identity, body: { userId: bob, may: 'read' } },
    done: shares,
    expected: 1,
  },
  unshareRecord: {
    method: 'DELETE',
    path: (id) => `/db/unshareRecord/${id}/_shares/${bob}`,
    request: { identity },
    async prepare(bed, id) {
      const body = { userId: bob, may: 'read' };
      await bed.call('PUT', `/db/unshareRecord/${id}/_shares`, { identity, body });
      return undefined;
    },
    done: shares,
    expected: 0,
  },
  reportRecord: {
    method: 'POST',
    path: (id) => `/db/reportRecord/${id}/_report`,
    request: { identity, body: { reason: 'Spam' } },
    done: reports,
    expected: 1,
  },
  dismissReports: {
    method: 'DELETE',
    path: (id) => `/db/dismissReports/${id}/_report`,
    request: { identity: owner },
    async prepare(bed, id) {
      const body = { reason: 'Spam' };
      await bed.call('POST', `/db/dismissReports/${id}/_report`, { identity, body });
      return undefined;
    },
    done: reports,
    expected: 0,
  },
  restoreRecord: {
    method: 'POST',
    path: (id) => `/db/restoreRecord/${id}/_restore`,
    request: { identity },
    async prepare(bed, id) {
      await bed.call('PATCH', `/db/restoreRecord/${id}`, { identity, body: { data: { n: 9 } } });
      return until(async () => {
        const { body } = await bed.call('GET', `/db/restoreRecord/${id}/_history`, { identity });
        const seq = body.items[0]?.seq;
        return typeof seq === 'number' && { seq };
      });
    },
    done: numbers,
    expected: [1],
  },
  createRestorePoint: {
    method: 'POST',
    path: () => restorePoints,
    request: { identity: owner, body: { name: 'before' } },
    done: points,
    expected: ['before'],
  },
  deleteRestorePoint: {
    method: 'DELETE',
    path: () => `${restorePoints}/before`,
    request: { identity: owner },
    done: points,
    expected: [],
  },
  setCollectionAccess: {
    method: 'PUT',
    path: () => `${platform}/setCollectionAccess`,
    request: { identity: owner, body: { unique: ['n'] } },
    done: async (bed) =>
      (await bed.database.query('SELECT FROM unique_fields WHERE field = $1', ['n'])).length,
    expected: 1,
  },
  renameCollection: {
    method: 'PATCH',
    path: () => `${platform}/renameCollection`,
    request: { identity: owner, body: { name: 'renamed' } },
    done: collections,
    expected: expect.arrayContaining(['renamed']),
  },
  deleteCollection: {
    method: 'DELETE',
    path: () => `${platform}/deleteCollection`,
    request: { identity: owner },
    done: collections,
    expected: expect.not.arrayContaining(['deleteCollection']),
  },
  restoreCollection: {
    method: 'POST',
    path: () => `${platform}/restoreCollection/restore`,
    request: { identity: owner, body: {} },
    async prepare(bed) {
      await bed.call('DELETE', `${platform}/restoreCollection`, { identity: owner });
      return undefined;
    },
    done: numbers,
    expected: [1],
  },
  eraseTrashedCollection: {
    method: 'DELETE',
    path: () => `${trash}/eraseTrashedCollection`,
    request: { identity: owner },
    async prepare(bed) {
      await bed.call('DELETE', `${platform}/eraseTrashedCollection`, { identity: owner });
      return undefined;
    },
    done: trashed,
    expected: expect.not.arrayContaining(['eraseTrashedCollection']),
  },
};

/** These wait in no turn of writes: imports have turns of their own, and an undo is made by a job. */
const ofTheirOwn = ['importRecords', 'undoChanges'];

describe('a write that waits for a lock', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  /** Of the turns of writes that have ended. */
  const costOfTurns = async () => {
    const metric = await bed.registry.getSingleMetric('backlot_queue_cost_seconds_total')?.get();
    const ofWrites = metric?.values.filter(({ labels }) =>
      ['writes', 'batches'].includes(String(labels.queue)),
    );
    return ofWrites?.reduce((sum, { value }) => sum + value, 0) ?? 0;
  };

  it('is known here, whichever it is', () => {
    const ofService = routes.filter(
      ({ service, limit }) => service === 'records' && limit === 'write',
    );
    expect([...Object.keys(writes), ...ofTheirOwn].sort()).toEqual(
      ofService.map((one) => one.operationId).sort(),
    );
  });

  it.each(Object.entries(writes))('%s runs twice, and is done once', async (name, write) => {
    await bed.call('PUT', `${platform}/${name}`, { identity: owner, body: { access } });
    const { id } = await bed.create(name, { n: 1 }, identity);
    const body = await write.prepare?.(bed, id);
    const request = { ...write.request, ...(body && { body }) };
    const { ownerDatabase } = bed;
    const tables = ['collections', 'records', 'shares', 'reports', 'count_delta', 'restore_points'];
    const answer = await ownerDatabase.transaction(async () => {
      await ownerDatabase.query(`LOCK TABLE ${tables.join(', ')} IN EXCLUSIVE MODE`);
      const before = await costOfTurns();
      const answer = bed.call(write.method, write.path(id), request);
      await until(async () => (await costOfTurns()) > before);
      return { answer };
    });
    expect((await answer.answer).status).toBeLessThan(300);
    expect(await write.done(bed, name)).toEqual(write.expected);
    for (const table of ['shares', 'reports']) await bed.database.query(`DELETE FROM ${table}`);
  });
});
