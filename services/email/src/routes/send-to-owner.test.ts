import { anonymous, asKey, asUser, testProject } from '@backlot/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ownerMailsPerDay } from '../mails/owner-mails.ts';
import {
  createFakeMailer,
  createTestBed,
  ownerAddress,
  type TestBed,
} from '../testing/test-bed.ts';

const contact = { to: 'owner', subject: 'A question', html: '<p>Hi</p>' };
const dayMs = 24 * 60 * 60 * 1000;

/** A mailer that reaches people sends to those whom the project knows, unless it says otherwise. */
describe.each(['real', 'dev'])('a mail to "owner", with a %s mailer', (kind) => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed(kind === 'real' ? { mailer: createFakeMailer() } : {});
  });
  afterAll(() => bed.close());
  afterEach(async () => {
    bed.owner.isVerified = true;
    await bed.takeUsage();
    await bed.database.query('DELETE FROM mails');
    await bed.database.query('DELETE FROM window_counts');
  });

  const visitor = (ip: string) => anonymous({ ip });

  it('reaches the owner from anybody, for one credit, and shows nobody the address', async () => {
    for (const identity of [visitor('192.0.2.1'), asUser(testProject.ownerId), asKey()]) {
      const answer = await bed.send(contact, { identity });
      expect([answer.status, answer.body]).toEqual([200, { ok: true }]);
    }
    expect((await bed.list()).map(({ to }) => to)).toEqual(Array(3).fill([ownerAddress]));
    expect((await bed.send(contact)).headers.get('x-backlot-usage')).toBe('1000');
  });

  it('is bounded by address and by project, apart from other mails', async () => {
    const ips = Array.from(
      { length: ownerMailsPerDay.project / ownerMailsPerDay.address },
      (_, n) => `192.0.2.${n}`,
    );
    for (const ip of ips) {
      const send = () => bed.send(contact, { identity: visitor(ip) });
      for (let n = 0; n < ownerMailsPerDay.address; n++) expect((await send()).status).toBe(200);
      const refused = await send();
      expect([refused.status, refused.body.code]).toEqual([429, 'visitor_budget']);
      expect(refused.headers.get('retry-after')).toBe('3600');
    }
    const others = { identity: visitor('198.51.100.1') };
    expect((await bed.send(contact, others)).status).toBe(429);
    expect((await bed.send({ ...contact, to: ownerAddress }, others)).status).toBe(200);
    expect((await bed.send(contact, { identity: asKey() })).status).toBe(200);
    bed.clock.pass(dayMs);
    expect((await bed.send(contact, others)).status).toBe(200);
  });

  it('counts each of parallel mails', async () => {
    const identity = visitor('203.0.113.1');
    const answers = await Promise.all(
      Array.from({ length: ownerMailsPerDay.address + 5 }, () => bed.send(contact, { identity })),
    );
    const sent = answers.filter(({ status }) => status === 200);
    expect(sent).toHaveLength(ownerMailsPerDay.address);
    expect(await bed.list()).toHaveLength(ownerMailsPerDay.address);
  });

  it('is not sent to an owner who has verified no address', async () => {
    bed.owner.isVerified = false;
    const unseen = await bed.send(contact, { identity: visitor('192.0.2.1') });
    expect([unseen.status, unseen.body]).toEqual([200, { ok: true }]);
    expect(await bed.takeUsage()).toEqual([]);
    expect(await bed.list()).toMatchObject([{ status: 'failed', to: ['owner'] }]);
    const refused = await bed.send(contact, { identity: asKey() });
    expect([refused.status, refused.body.code]).toEqual([403, 'recipient_not_allowed']);
    expect(JSON.stringify([unseen.body, refused.body])).not.toContain(ownerAddress);
  });

  it('names the owner alone, not in a list', async () => {
    const { status, body } = await bed.send({ ...contact, to: ['owner'] });
    expect([status, body.code]).toEqual([400, 'invalid_body']);
  });
});
