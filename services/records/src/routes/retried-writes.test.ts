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
const collections = async (bed: TestBed) => {
  const { body } = await bed.call('GET', platform, { identity: owner });
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
    done: shares,
    expected: 0,
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
};

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
      ({ service, method }) => service === 'records' && method !== 'GET',
    );
    expect(Object.keys(writes).sort()).toEqual(ofService.map((one) => one.operationId).sort());
  });

  it.each(Object.entries(writes))('%s runs twice, and is done once', async (name, write) => {
    await bed.call('PUT', `${platform}/${name}`, { identity: owner, body: { access } });
    const { id } = await bed.create(name, { n: 1 }, identity);
    if (name === 'unshareRecord')
      await bed.call('PUT', `/db/${name}/${id}/_shares`, {
        identity,
        body: { userId: bob, may: 'read' },
      });
    const { ownerDatabase } = bed;
    const tables = ['collections', 'records', 'shares', 'count_delta'];
    const answer = await ownerDatabase.transaction(async () => {
      await ownerDatabase.query(`LOCK TABLE ${tables.join(', ')} IN EXCLUSIVE MODE`);
      const before = await costOfTurns();
      const answer = bed.call(write.method, write.path(id), write.request);
      await until(async () => (await costOfTurns()) > before);
      return { answer };
    });
    expect((await answer.answer).status).toBeLessThan(300);
    expect(await write.done(bed, name)).toEqual(write.expected);
    await bed.database.query('DELETE FROM shares');
  });
});
