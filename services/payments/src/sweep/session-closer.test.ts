import { anonymous, testProject } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createStripeBed, type StripeBed, webhookSecret } from '../testing/stripe-bed.ts';
import { order, otherProject } from '../testing/test-bed.ts';
import { secretKey } from '../testing/test-stripe.ts';

const minuteMs = 60_000;
const payload = { projectId: testProject.id, projectNumber: testProject.number };

describe('the open sessions of a deleted project', () => {
  let bed: StripeBed;
  let events = 0;
  beforeAll(async () => {
    bed = await createStripeBed();
    await bed.service.start();
  });
  afterAll(async () => {
    await bed.service.stop();
    await bed.close();
  });
  beforeEach(async () => {
    bed.deleted.clear();
    bed.stripe.behave(null);
    bed.stripe.requests.length = 0;
    await bed.database.query('DELETE FROM payments');
  });

  const tell = (topic: 'project.changed' | 'project.erased') =>
    bed.bus.publish({ id: String(++events), topic, payload });
  const remove = async () => {
    bed.deleted.add(testProject.id);
    await tell('project.changed');
  };
  const statuses = async () => {
    const rows = await bed.database.query<{ status: string }>(
      'SELECT status FROM payments ORDER BY project_number, created_at',
    );
    return rows.map(({ status }) => status);
  };
  const closed = () =>
    bed.stripe.requests.flatMap(({ path }) => /sessions\/(.*)\/expire$/.exec(path)?.[1] ?? []);

  it('are closed at the provider by the next sweep; those of others stay open', async () => {
    const sessionId = await bed.session();
    await bed.session(order, anonymous({ project: otherProject }));
    await tell('project.changed');
    await bed.service.sweep();
    expect(closed()).toEqual([]);
    await remove();
    await bed.service.sweep();
    expect(closed()).toEqual([sessionId]);
    expect(await statuses()).toEqual(['expired', 'open']);
  });

  it('are closed later where the provider was away', async () => {
    const sessionId = await bed.session();
    await remove();
    bed.stripe.behave('failing');
    await bed.service.sweep();
    expect(await statuses()).toEqual(['open']);
    bed.stripe.behave(null);
    bed.clock.pass(11 * minuteMs);
    await bed.service.sweep();
    expect(closed()).toEqual([sessionId]);
    expect(await statuses()).toEqual(['expired']);
  });

  it('are closed where they were opened while it was deleted', async () => {
    await remove();
    const sessionId = await bed.session();
    bed.clock.pass(11 * minuteMs);
    await bed.service.sweep();
    expect(closed()).toEqual([sessionId]);
    expect(await statuses()).toEqual(['expired']);
  });

  it('are paid where the payer was faster', async () => {
    await bed.stripe.pay(await bed.session());
    await remove();
    await bed.service.sweep();
    expect(await statuses()).toEqual(['paid']);
  });

  it('are closed before its keys are erased', async () => {
    const sessionId = await bed.session();
    await tell('project.erased');
    expect(closed()).toEqual([sessionId]);
    expect(await statuses()).toEqual([]);
    expect(await bed.database.query('SELECT FROM secrets')).toEqual([]);
  });

  it('do not keep it from being erased while the provider fails', async () => {
    await bed.owner('PUT', '/secrets/stripe', { secretKey, webhookSecret });
    const sessionId = await bed.session();
    bed.stripe.behave('failing');
    await tell('project.erased');
    expect(bed.stripe.requests.at(-1)?.path).toContain(sessionId);
    expect(await statuses()).toEqual([]);
    expect(await bed.database.query('SELECT FROM secrets')).toEqual([]);
  });
});
