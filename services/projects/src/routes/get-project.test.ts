import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, ownerA, type TestBed } from '../testing/test-bed.ts';

describe('getProject', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  it('shows a project to its owner and to the operator alike', async () => {
    const id = await bed.project();
    const own = await bed.call('GET', `/platform/projects/${id}`, {
      identity: await bed.owner(ownerA, id),
    });
    expect(own).toMatchObject({
      status: 200,
      body: { id, ownerId: ownerA, status: 'active', settings: {} },
    });
    const operators = await bed.call('GET', `/platform/projects/${id}`, {
      identity: await bed.operator(id),
    });
    expect({ ...operators.body, role: 'owner' }).toEqual(own.body);
  });

  it('shows the built-in project, which belongs to nobody, to the operator', async () => {
    const answer = await bed.call('GET', '/platform/projects/platform', {
      identity: await bed.operator(),
    });
    expect(answer).toMatchObject({
      status: 200,
      body: { id: 'platform', ownerId: null, status: 'active' },
    });
  });
});
