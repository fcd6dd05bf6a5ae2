import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { emailRoutes } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { anonymous, refusesStrangers, testProject } from '@backlot/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  createSendgridBed,
  createSendgridCalls,
  event,
  inPlatform,
  type Signing,
} from '../testing/sendgrid-events.ts';
import { createTestBed, type FakeMailer, masterKey, type TestBed } from '../testing/test-bed.ts';
import { createSuppressions } from './suppressions.ts';

describe('events of SendGrid', () => {
  let mailer: FakeMailer;
  let bed: TestBed;
  beforeEach(async () => {
    ({ bed, mailer } = await createSendgridBed());
  });
  afterEach(() => bed.close());

  const { sendMany, tell } = createSendgridCalls(() => ({ bed, mailer }));
  const suppressed = () =>
    bed.database.query('SELECT address_hash, kind FROM suppressed_addresses');
  const { hash } = createSuppressions({} as Database, [masterKey]);

  refusesStrangers(
    emailRoutes.receiveSendgridEvents,
    () => bed.http,
    () => ({ path: '/email/sendgrid-events', body: [] }),
  );
  it('are believed with a signature of this time alone, in the platform’s project alone', async () => {
    const [mail] = await sendMany(1);
    if (!mail) throw new Error('nothing sent');
    const stranger = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey;
    const minutes = 60_000;
    const refused: Signing[] = [
      { key: stranger },
      { at: bed.clock.now() - 11 * minutes },
      { at: bed.clock.now() + 11 * minutes },
      { change: (body) => body.replace('p0@', 'p1@') },
      { change: (body) => `${body} ` },
      { headers: {} },
      {
        headers: {
          'x-twilio-email-event-webhook-signature': 'AAAA',
          'x-twilio-email-event-webhook-timestamp': String(Math.floor(bed.clock.now() / 1000)),
        },
      },
    ];
    for (const signing of refused)
      expect(await tell([event(mail)], signing)).toMatchObject({
        status: 400,
        body: { code: 'invalid_signature' },
      });
    expect((await tell([event(mail)], { identity: anonymous() })).status).toBe(404);
    expect(await suppressed()).toEqual([]);
    expect((await tell([event(mail)], { at: bed.clock.now() - 9 * minutes })).status).toBe(200);
    expect(await suppressed()).toEqual([
      { address_hash: hash(testProject.number, 'p0@example.org'), kind: 'bounce' },
    ]);
  });

  it('are not expected where mails go another way', async () => {
    const other = await createTestBed({ beside: bed });
    const answer = await other.call('POST', '/email/sendgrid-events', {
      identity: inPlatform,
      body: [],
    });
    expect(answer.status).toBe(404);
    await other.close();
  });

  it('about mails or addresses that are not the project’s change nothing', async () => {
    const [mail] = await sendMany(1);
    if (!mail) throw new Error('nothing sent');
    await tell([
      event(mail, { email: 'stranger@example.org' }),
      event(mail, { backlot_project: '1002' }),
      event(mail, { backlot_mail: randomUUID() }),
      event(mail, { backlot_project: '1 OR 1=1' }),
      event(mail, { event: 'delivered' }),
      event(mail, { event: 'open' }),
      null,
      'x',
    ]);
    expect(await suppressed()).toEqual([]);
  });

  it('never fail on our side, whatever they are', async () => {
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.record(
        {
          event: fc.constantFrom('bounce', 'spamreport'),
          sg_event_id: fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue()),
          email: fc.oneof(fc.string({ unit: 'binary' }), fc.emailAddress()),
          backlot_project: fc.oneof(fc.nat().map(String), fc.string()),
          backlot_mail: fc.oneof(fc.uuid(), fc.string()),
        },
        { requiredKeys: [] },
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(value, { maxLength: 5 }), async (events) => {
        expect((await tell(events)).status).toBe(200);
      }),
      { numRuns: 100 },
    );
  });
});
