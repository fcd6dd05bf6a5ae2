import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { emailRoutes, platformProject } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import {
  anonymous,
  asKey,
  asOperator,
  asOwner,
  asUser,
  refusesStrangers,
  testProject,
} from '@backlot/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { askedBounces, hashAddress } from '../mails/asked-mails.ts';
import {
  createFakeMailer,
  createTestBed,
  type FakeMailer,
  masterKey,
  ownerAddress,
  type TestBed,
} from '../testing/test-bed.ts';
import { createSuppressions } from './suppressions.ts';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const webhookKey = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
const inPlatform = anonymous({
  project: { ...testProject, id: platformProject.id, number: platformProject.number },
});

describe('events of SendGrid', () => {
  let mailer: FakeMailer;
  let bed: TestBed;
  beforeEach(async () => {
    mailer = createFakeMailer();
    bed = await createTestBed({
      mailer,
      config: {
        mailer: { kind: 'sendgrid', apiKey: 'SG.x', baseUrl: 'http://127.0.0.1:1', webhookKey },
      },
    });
  });
  afterEach(() => bed.close());

  interface Signing {
    at?: number;
    key?: typeof privateKey;
    change?: (body: string) => string;
    identity?: typeof inPlatform;
    headers?: Record<string, string>;
  }
  const tell = (events: unknown, signing: Signing = {}) => {
    const body = JSON.stringify(events);
    const timestamp = String(Math.floor((signing.at ?? bed.clock.now()) / 1000));
    const signature = sign('sha256', Buffer.from(timestamp + body), signing.key ?? privateKey);
    return bed.call('POST', '/email/sendgrid-events', {
      identity: signing.identity ?? inPlatform,
      body: signing.change?.(body) ?? body,
      headers: signing.headers ?? {
        'x-twilio-email-event-webhook-signature': signature.toString('base64'),
        'x-twilio-email-event-webhook-timestamp': timestamp,
      },
    });
  };
  const open = { emailRecipients: 'anyone', emailPerVisitorPerDay: 1_000_000 };
  const anyoneIn = (project = testProject) => asKey({ project: { ...project, settings: open } });
  const visitor = (changes: Partial<Identity> = {}) =>
    anonymous({ project: { ...testProject, settings: open }, ...changes });
  const send = (to: string | string[], project = testProject, identity = anyoneIn(project)) =>
    bed.send({ to, subject: 'x', html: 'x' }, { identity });
  const sendMany = async (count: number, project = testProject, identity = anyoneIn(project)) => {
    for (let n = 0; n < count; n++)
      expect((await send(`p${n}@example.org`, project, identity)).status).toBe(200);
    await bed.service.deliver();
    return mailer.sent.splice(0);
  };
  const event = (mail: { id: string; to: readonly string[] }, changes: object = {}) => ({
    event: 'bounce',
    type: 'bounce',
    sg_event_id: randomUUID(),
    email: mail.to[0],
    backlot_project: String(testProject.number),
    backlot_mail: mail.id,
    ...changes,
  });
  const suppressed = () =>
    bed.database.query('SELECT address_hash, kind FROM suppressed_addresses');
  const { hash } = createSuppressions({} as Database, [masterKey]);

  refusesStrangers(
    emailRoutes.receiveSendgridEvents,
    () => bed.http,
    () => ({ path: '/email/sendgrid-events', body: [] }),
  );
  refusesStrangers(
    emailRoutes.resumeEmails,
    () => bed.http,
    () => ({ path: `/projects/${testProject.id}/emails/resume` }),
  );

  refusesStrangers(
    emailRoutes.getSendingState,
    () => bed.http,
    () => ({ path: `/projects/${testProject.id}/emails/sending` }),
  );
  const sendingState = async (identity = asOwner()) => {
    const path = `/platform/projects/${testProject.id}/emails/sending`;
    return (await bed.call('GET', path, { identity })).body;
  };

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

  it('suppress an address in this project, and tell the owner', async () => {
    await send(['Bad@example.org', 'good@example.org']);
    await bed.service.deliver();
    const [mail] = mailer.sent.splice(0);
    if (!mail) throw new Error('nothing sent');
    const bounce = event(mail, { email: 'bad@example.org' });
    await tell([bounce, bounce, event(mail, { email: 'good@example.org', type: 'blocked' })]);
    await tell([bounce]);
    expect(await bed.list()).toMatchObject([{ error: 'Bounced from bad@example.org.' }]);
    expect(await bed.database.query('SELECT FROM reports')).toHaveLength(1);

    await send(['bad@example.org', 'good@example.org']);
    await send('BAD@example.org');
    const other = { ...testProject, id: 'other', number: 1002 };
    await send('bad@example.org', other);
    await bed.service.deliver();
    const sent = new Map(mailer.sent.map(({ projectId, to }) => [projectId, to]));
    expect(sent).toEqual(
      new Map([
        ['testproject', ['good@example.org']],
        ['other', ['bad@example.org']],
      ]),
    );
    expect(mailer.sent).toHaveLength(2);
    const reason = 'suppressed after a bounce or a complaint';
    expect((await bed.list('?limit=2')).map(({ status, error }) => [status, error])).toEqual([
      ['failed', `Every recipient is ${reason}.`],
      ['sent', `Not delivered to bad@example.org: ${reason}.`],
    ]);
  });

  it('suppress it in copies too; who is left in copy gets the mail', async () => {
    await send(['bad@example.org', 'good@example.org']);
    await bed.service.deliver();
    const [mail] = mailer.sent.splice(0);
    if (!mail) throw new Error('nothing sent');
    await tell([event(mail, { email: 'bad@example.org' })]);
    const body = { subject: 'x', html: 'x' };
    for (const addressed of [
      { to: 'good@example.org', cc: ['bad@example.org', 'other@example.org'] },
      { to: 'bad@example.org', cc: 'good@example.org' },
    ]) {
      await bed.send({ ...addressed, ...body }, { identity: anyoneIn() });
      await bed.service.deliver();
    }
    expect(mailer.sent.map(({ to, cc }) => ({ to, cc }))).toEqual([
      { to: ['good@example.org'], cc: ['other@example.org'] },
      { to: ['good@example.org'], cc: [] },
    ]);
    const copied = mailer.sent[0];
    if (!copied) throw new Error('nothing sent');
    await tell([event(copied, { email: 'other@example.org' })]);
    expect(await suppressed()).toHaveLength(2);
  });

  it('keep no address, and outlive the account that had it', async () => {
    await bed.service.start();
    const [mail] = await sendMany(1);
    if (!mail) throw new Error('nothing sent');
    await tell([event(mail)]);
    await bed.bus.publish({
      id: randomUUID(),
      topic: 'user.erased',
      payload: {
        projectId: testProject.id,
        projectNumber: testProject.number,
        userId: randomUUID(),
        email: 'p0@example.org',
        emailVerified: true,
      },
    });
    expect(await bed.list()).toEqual([]);
    const rows = await bed.database.query<{ row: string }>(
      'SELECT s::text AS row FROM suppressed_addresses s',
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]?.row).not.toContain('example');
    await send('P0@example.org');
    await bed.service.deliver();
    expect(mailer.sent).toEqual([]);
  });

  it('suppress an address under a new master key too, while the old one is kept', async () => {
    const [mail] = await sendMany(1);
    if (!mail) throw new Error('nothing sent');
    await tell([event(mail, { email: 'p0@example.org' })]);
    const mails = [{ projectNumber: testProject.number, to: ['p0@example.org', 'p1@example.org'] }];
    const newKey = Buffer.alloc(32, 6);
    const find = (keys: Buffer[]) => createSuppressions(bed.database, keys).find(mails);
    expect(await find([newKey, masterKey])).toEqual([['p0@example.org']]);
    expect(await find([newKey])).toEqual([[]]);
  });

  it('of an older version are kept as hashes from the next start on', async () => {
    await bed.database.query(
      `INSERT INTO suppressions SELECT $1, 'p' || n || '@example.org', 'bounce', now()
         FROM generate_series(0, 1200) n`,
      [testProject.number],
    );
    await bed.service.start();
    expect(await bed.database.query('SELECT FROM suppressions')).toEqual([]);
    expect(await suppressed()).toHaveLength(1201);
    await send(['p0@example.org', 'P1200@example.org', 'fine@example.org']);
    await bed.service.deliver();
    expect(mailer.sent.map(({ to }) => to)).toEqual([['fine@example.org']]);
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

  it('stop a project past 5 % of bounces over 200 mails, once, and tell its owner', async () => {
    const few = await sendMany(199);
    await tell(few.slice(0, 100).map((mail) => event(mail)));
    expect((await send('fine@example.org')).status).toBe(200);
    await bed.service.deliver();
    mailer.sent.splice(0);
    const late = few.slice(100, 104).map((mail) => event(mail));
    await Promise.all(late.map((late) => tell([late])));
    expect(await send('fine@example.org')).toMatchObject({
      status: 403,
      body: { code: 'sending_stopped' },
    });
    await bed.service.deliver();
    expect(mailer.sent).toMatchObject([
      {
        to: [ownerAddress],
        subject: 'Test project may not send mail at the moment',
        text: expect.stringMatching(/10\d of 200 mails bounced/),
      },
    ]);
    expect((await send('fine@example.org', { ...testProject, number: 1002 })).status).toBe(200);

    bed.clock.pass(1000);
    const resumed = await bed.call('POST', `/platform/projects/${testProject.id}/emails/resume`, {
      identity: asOperator(),
    });
    expect(resumed.status).toBe(200);
    expect((await send('fine@example.org')).status).toBe(200);
    await tell(few.slice(104, 108).map((mail) => event(mail)));
    expect((await send('fine@example.org')).status).toBe(200);
  });

  it('hold back what the stopped project has queued, until it may send again', async () => {
    const mails = await sendMany(200);
    expect((await send('waiting@example.org')).status).toBe(200);
    mailer.sent.splice(0);
    await tell(mails.slice(0, 11).map((mail) => event(mail)));
    await bed.service.deliver();
    expect(mailer.sent).toMatchObject([{ to: [ownerAddress] }]);
    expect((await bed.list())[0]).toMatchObject({
      to: ['waiting@example.org'],
      status: 'queued',
      error: 'The project is stopped from sending.',
    });
    const stopped = { since: expect.any(String), reason: '11 of 200 mails bounced' };
    expect(await sendingState()).toEqual({ stopped, visitorsStopped: null, waiting: 1 });
    expect(await sendingState(asOwner({ project: { ...testProject, number: 1002 } }))).toEqual({
      stopped: null,
      visitorsStopped: null,
      waiting: 0,
    });
    await bed.call('POST', `/platform/projects/${testProject.id}/emails/resume`, {
      identity: asOperator(),
    });
    bed.clock.pass(60_000);
    await bed.service.deliver();
    expect(mailer.sent.at(-1)).toMatchObject({ to: ['waiting@example.org'] });
    expect(await sendingState()).toEqual({ stopped: null, visitorsStopped: null, waiting: 0 });
  });

  it('of mails that visitors send to others stop those alone', async () => {
    const mails = await sendMany(200, testProject, visitor());
    const waiting = await send('waiting@example.org', testProject, visitor());
    expect(waiting.status).toBe(200);
    await tell(mails.slice(0, 11).map((mail) => event(mail)));
    expect(await send('fine@example.org', testProject, visitor())).toMatchObject({
      status: 403,
      body: { code: 'sending_stopped' },
    });
    expect((await send('owner', testProject, visitor())).status).toBe(200);
    expect((await send('fine@example.org')).status).toBe(200);
    await bed.service.deliver();
    expect(mailer.sent.map(({ to, subject }) => [to[0], subject])).toEqual(
      expect.arrayContaining([
        [ownerAddress, 'Visitors of Test project may not mail others at the moment'],
        [ownerAddress, 'x'],
        ['fine@example.org', 'x'],
      ]),
    );
    expect(mailer.sent.map(({ to }) => to[0])).not.toContain('waiting@example.org');
    expect(await sendingState()).toMatchObject({
      stopped: null,
      visitorsStopped: { reason: '11 of 200 mails bounced' },
      waiting: 1,
    });
    bed.clock.pass(1000);
    await bed.call('POST', `/platform/projects/${testProject.id}/emails/resume`, {
      identity: asOperator(),
    });
    expect((await send('fine@example.org', testProject, visitor())).status).toBe(200);
    bed.clock.pass(60_000);
    await bed.service.deliver();
    expect(mailer.sent.map(({ to }) => to[0])).toContain('waiting@example.org');
  });

  it('of mails that people ask for to their own address count for their network address alone', async () => {
    await bed.service.start();
    const askFor = async (to: string, ip: string) => {
      await bed.bus.publish({
        id: randomUUID(),
        topic: 'mail.requested',
        payload: {
          projectId: testProject.id,
          projectNumber: testProject.number,
          projectName: 'Shop',
          ipHash: hashAddress(ip),
          to,
          name: null,
          template: 'verify-email',
          token: 'a-token',
          expiresAt: '2026-11-22T05:00:00.000Z',
        },
      });
      const { status, error } = (await bed.list())[0] ?? {};
      await bed.service.deliver();
      return [status, error];
    };
    for (let n = 0; n < askedBounces.address; n++) await askFor(`bad${n}@x.example`, '192.0.2.7');
    await tell(mailer.sent.splice(0).map((mail) => event(mail)));
    expect(await askFor('next@x.example', '192.0.2.7')).toEqual([
      'failed',
      'Not sent: too many mails that were asked for from there could not be delivered.',
    ]);
    expect((await askFor('next@x.example', '192.0.2.8'))[0]).not.toBe('failed');

    const template = { subject: 'x', html: 'x', to: 'caller' };
    const path = `/platform/projects/${testProject.id}/mail-templates/receipt`;
    await bed.http.call('PUT', path, { identity: asOwner(), body: template });
    const userId = randomUUID();
    bed.accounts.set(userId, { email: 'ada@example.org', name: null, emailVerified: true });
    const receipt = (ip: string) =>
      bed.send(
        { template: 'receipt' },
        { identity: asUser(userId, { ip, project: visitor().project }) },
      );
    expect(await receipt('192.0.2.7')).toMatchObject({
      status: 403,
      body: { code: 'sending_stopped' },
    });
    expect((await receipt('192.0.2.8')).status).toBe(200);
    expect(await bed.database.query('SELECT FROM sending_stops')).toEqual([]);
    bed.clock.pass(24 * 60 * 60_000);
    expect((await askFor('later@x.example', '192.0.2.7'))[0]).not.toBe('failed');
  });

  it('let a project go on at just 5 % of bounces, and stop it at a complaint in 200', async () => {
    const mails = await sendMany(200);
    await tell(mails.slice(0, 10).map((mail) => event(mail)));
    expect((await send('fine@example.org')).status).toBe(200);
    await tell(mails.slice(20, 21).map((mail) => event(mail, { event: 'spamreport' })));
    expect((await send('fine@example.org')).body.code).toBe('sending_stopped');
    expect(await bed.takeUsage()).toEqual([]);
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
