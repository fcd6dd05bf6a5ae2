import { randomUUID } from 'node:crypto';
import { nobody } from '@backlot/contract';
import { asOwner, asUser, testProject, until } from '@backlot/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ada, createTestBed, type TestBed } from '../../testing/test-bed.ts';

const former = '018f0000-0000-7000-8000-0000000000f1';
const present = '018f0000-0000-7000-8000-0000000000f2';
const projectNumber = testProject.number;
let addresses = 0;

describe('a share with an address', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
    const access = { read: ['owner', 'shared'], create: ['users'], change: ['owner', 'shared'] };
    await bed.call('PUT', '/platform/projects/testproject/collections/notes', {
      identity: asOwner(),
      body: { access },
    });
  });
  afterAll(() => bed.close());
  afterEach(() => {
    bed.onHolderAsked.run = async () => {};
  });

  const tell = (email: string, userId: string) =>
    bed.bus.publish({
      id: randomUUID(),
      topic: 'user.verified',
      payload: { projectNumber, userId, email },
    });
  const moves = async (email: string, userId: string | null) => {
    if (userId === null) bed.holders.delete(email);
    else bed.holders.set(email, userId);
    await tell(email, userId ?? nobody);
  };
  const share = async (id: string, email: string, may: string) => {
    const path = `/db/notes/${id}/_shares`;
    const { status } = await bed.call('PUT', path, { identity: asUser(ada), body: { email, may } });
    expect(status).toBe(200);
  };
  /** The status of a read and of a change. */
  const rights = async (id: string, user: string) => {
    const path = `/db/notes/${id}`;
    const identity = asUser(user);
    const read = await bed.call('GET', path, { identity });
    const body = { data: { a: 2 } };
    return [read.status, (await bed.call('PATCH', path, { identity, body })).status];
  };
  const has = (id: string, user: string, expected: number[]) =>
    until(async () => String(await rights(id, user)) === String(expected), {
      what: `${user} has ${expected}`,
    });
  const [none, reads, changes] = [
    [404, 404],
    [200, 403],
    [200, 200],
  ];
  const shared = async (may = 'read') => {
    const email = `v${++addresses}@corp.example`;
    const { id } = await bed.create('notes', { a: 1 }, asUser(ada));
    await share(id, email, may);
    await moves(email, former);
    await has(id, former, may === 'read' ? reads : changes);
    return { id, email };
  };

  it('goes with the address, from whoever had it to whoever has it, or to nobody', async () => {
    const { id, email } = await shared('change');
    await moves(email, null);
    await has(id, former, none);
    await moves(email, present);
    await has(id, present, changes);
    expect(await rights(id, former)).toEqual(none);
    await moves(email, former);
    await has(id, former, changes);
    expect(await rights(id, present)).toEqual(none);
  });

  it('that is given anew allows a former holder no more, whatever events are under way', async () => {
    const { id, email } = await shared();
    // The address has moved on, and nothing tells records of it yet.
    bed.holders.set(email, present);
    await share(id, email, 'change');
    expect((await rights(id, former))[1]).not.toBe(200);
    await tell(email, former);
    await has(id, present, changes);
    expect(await rights(id, former)).toEqual(none);
  });

  it('stays with its holder who is to have no more than before', async () => {
    const { id, email } = await shared('change');
    await share(id, email, 'change');
    expect(await rights(id, former)).toEqual(changes);
    await share(id, email, 'read');
    expect(await rights(id, former)).toEqual(reads);
  });

  it('is the last holder’s, in whatever order events arrive', async () => {
    const { id, email } = await shared();
    bed.holders.set(email, present);
    await Promise.all(
      Array.from({ length: 12 }, (_, n) => tell(email, [former, present, nobody][n % 3] ?? nobody)),
    );
    await has(id, present, reads);
    expect(await rights(id, former)).toEqual(none);
  });

  it('is the last holder’s where the address changes hands between the question and the write', async () => {
    const { id, email } = await shared();
    let asked = 0;
    bed.holders.set(email, ada);
    bed.onHolderAsked.run = async () => {
      if (++asked === 1) bed.holders.set(email, former);
      if (asked === 2) bed.holders.set(email, present);
    };
    await tell(email, former);
    await has(id, present, reads);
    expect(await rights(id, former)).toEqual(none);
  });

  it('waits for whoever has the address next, where its holder is erased without having shown it', async () => {
    const { id, email } = await shared();
    bed.holders.delete(email);
    const payload = {
      projectId: testProject.id,
      projectNumber,
      userId: former,
      email: 'elsewhere@corp.example',
      emailVerified: true,
    };
    await bed.bus.publish({ id: randomUUID(), topic: 'user.erased', payload });
    await has(id, former, none);
    await moves(email, present);
    await has(id, present, reads);
  });
});
