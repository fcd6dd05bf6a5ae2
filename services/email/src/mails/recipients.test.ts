import type { Identity } from '@backlot/identity';
import { anonymous, asKey, asOwner, asUser, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  createFakeMailer,
  createTestBed,
  ownerAddress,
  reserved,
  type TestBed,
} from '../testing/test-bed.ts';
import { refusedPerDay } from './mails.ts';

describe('to whom a project may send', () => {
  let bed: TestBed;
  const mailer = createFakeMailer();
  beforeAll(async () => {
    bed = await createTestBed({ mailer });
    bed.users.add('user@example.org').add('jösé@example.org').add('user@xn--bcher-kva.example');
    const emailAllowList = ['listed@example.org', 'listed@xn--bcher-kva.example'];
    bed.setProject({ settings: { emailAllowList } });
  });
  afterAll(() => bed.close());
  beforeEach(() => bed.database.query('DELETE FROM mails'));

  const send = (to: string | string[], identity = anonymous()) =>
    bed.send({ to, subject: 'x', html: 'x' }, { identity });

  const signedIn = (n = 1, settings = {}) =>
    asUser(`018f0000-0000-7000-8000-00000000000${n}`, { project: { ...testProject, settings } });

  it('is its users, its owner and those listed, in any case and spelling, where mails reach people', async () => {
    const known = [
      ...['User@Example.org', 'JÖSÉ@example.org', 'LISTED@example.org'],
      ...['User@BÜCHER.example', 'user@xn--bcher-kva.example', 'listed@bücher.example'],
    ];
    for (const identity of [anonymous(), signedIn(), asOwner(), asKey()])
      for (const to of [...known, ownerAddress])
        expect([to, (await send(to, identity)).status]).toEqual([to, 200]);
    for (const identity of [signedIn(), asOwner(), asKey()])
      expect(await send('stranger@example.org', identity)).toMatchObject({
        status: 403,
        body: { code: 'recipient_not_allowed' },
      });
  });

  it('sends to nobody where strangers are among ten, and names none of them', async () => {
    const strangers = ['a@x.example', 'b@x.example', 'c@x.example'];
    const known = ['user@example.org', 'listed@example.org', ownerAddress, 'jösé@example.org'];
    const answer = await send([...known, ...strangers], signedIn());
    expect(JSON.stringify(answer.body)).not.toMatch(/x\.example|user@|jösé@/);
    expect(answer.body.code).toBe('recipient_not_allowed');
    expect(await bed.list()).toEqual([]);
  });

  it('holds for copies too', async () => {
    const mail = { to: 'user@example.org', subject: 'x', html: 'x' };
    const copy = (cc: string) => bed.send({ ...mail, cc }, { identity: signedIn(2) });
    expect((await copy('listed@example.org')).status).toBe(200);
    expect((await copy('stranger@example.org')).body.code).toBe('recipient_not_allowed');
    const answer = { ...mail, replyTo: 'stranger@example.org' };
    expect((await bed.send(answer, { identity: signedIn(2) })).status).toBe(200);
    expect(await bed.list()).toHaveLength(2);
    const identity = { ...signedIn(9, { emailPerVisitorPerDay: 3 }), ip: '203.0.113.9' };
    const both = { ...mail, cc: 'listed@example.org' };
    expect((await bed.send(both, { identity })).status).toBe(200);
    expect((await bed.send(both, { identity })).body.code).toBe('visitor_budget');
  });

  it('is not told to a visitor: a refused mail answers as one that is sent, is free, and shows in the owner’s list', async () => {
    const paid = (project = testProject) => reserved(10_000, project);
    const forUser = await send('user@example.org', paid());
    await bed.takeUsage();
    const forStranger = await send('stranger@example.org', paid());
    expect([forStranger.status, forStranger.body]).toEqual([forUser.status, forUser.body]);
    expect(await bed.takeUsage()).toEqual([]);
    await bed.service.deliver();
    expect(mailer.sent.map(({ to }) => to)).not.toContainEqual(['stranger@example.org']);
    const refused = {
      to: ['stranger@example.org'],
      html: '',
      status: 'failed',
      error: 'Not sent: this project may not send to stranger@example.org.',
    };
    expect((await bed.list()).filter(({ status }) => status === 'failed')).toMatchObject([refused]);
  });

  it('is not told by a stop either', async () => {
    await bed.database.query('INSERT INTO sending_stops VALUES ($1, now())', [testProject.number]);
    const answers = [await send('user@example.org'), await send('stranger@example.org')];
    await bed.database.query('DELETE FROM sending_stops');
    expect(answers.map(({ body }) => body.code)).toEqual(['sending_stopped', 'sending_stopped']);
  });

  it('fills the owner’s list with a hundred refused mails a day at most', async () => {
    await bed.database.query('DELETE FROM window_counts');
    const from = (n: number) =>
      anonymous({
        ip: `198.51.100.${n}`,
        project: { ...testProject, settings: { emailPerVisitorPerDay: 1000 } },
      });
    const answers = await Promise.all(
      Array.from({ length: refusedPerDay + 20 }, (_, n) => send('no@x.example', from(n))),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await bed.list('?limit=1000')).toHaveLength(refusedPerDay);
    bed.clock.pass(24 * 60 * 60_000);
    await send('no@x.example');
    expect(await bed.list('?limit=1000')).toHaveLength(refusedPerDay + 1);
  });

  it('is what the project has set', async () => {
    const withPolicy = (emailRecipients: string) =>
      anonymous({ project: { ...testProject, settings: { emailRecipients } } });
    expect((await send('stranger@example.org', withPolicy('anyone'))).status).toBe(200);
    const local = await createTestBed();
    const to = { to: 'stranger@example.org', subject: 'x', html: 'x' };
    expect((await local.send(to, { identity: anonymous() })).status).toBe(200);
    expect((await local.list())[0]?.status).toBe('queued');
    expect((await local.send(to, { identity: withPolicy('known') })).status).toBe(200);
    expect((await local.list())[0]?.status).toBe('failed');
    await local.close();
  });
});

describe('a project whose owner is not verified', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed({ mailer: createFakeMailer() });
    bed.users.add('user@example.org');
    bed.setProject({ settings: { emailAllowList: ['listed@example.org'] } });
  });
  afterAll(() => bed.close());
  beforeEach(async () => {
    bed.owner.isVerified = false;
    await bed.database.query('DELETE FROM mails');
  });

  const project = { ...testProject, settings: { emailRecipients: 'anyone' } };
  const send = (to: string, identity: Identity, headers = {}) =>
    bed.send({ to, subject: 'x', html: 'x' }, { identity, headers });
  const callers = [
    asUser('018f0000-0000-7000-8000-000000000050', { project }),
    asOwner({ project }),
    asKey({ project }),
  ];

  it('sends to its verified users alone, whatever it has set, and says what to do about it', async () => {
    for (const caller of callers) {
      expect((await send('user@example.org', caller)).status).toBe(200);
      for (const to of ['stranger@example.org', 'listed@example.org'])
        expect(await send(to, caller)).toMatchObject({
          status: 403,
          body: {
            code: 'recipient_not_allowed',
            hint: expect.stringContaining('the mail that came at sign-up'),
          },
        });
    }
    expect(await bed.list()).toHaveLength(callers.length);
  });

  it('answers visitors as ever, and tells its owner in the list', async () => {
    const answers = [
      await send('user@example.org', anonymous({ project })),
      await send('stranger@example.org', anonymous({ project })),
    ];
    expect(answers.map(({ status, body }) => [status, body])).toEqual([
      [200, { ok: true }],
      [200, { ok: true }],
    ]);
    expect((await bed.list()).find(({ status }) => status === 'failed')).toMatchObject({
      to: ['stranger@example.org'],
      error: expect.stringContaining('Verify your e-mail address'),
    });
  });

  it('sends to those whom it allows once the address is verified', async () => {
    bed.owner.isVerified = true;
    for (const caller of callers)
      expect((await send('stranger@example.org', caller)).status).toBe(200);
    expect((await send('listed@example.org', asOwner())).status).toBe(200);
  });

  it('may be one where nobody can tell: 503, and nothing is stored', async () => {
    bed.owner.isUnavailable = true;
    const answers = [
      await send('stranger@example.org', asOwner({ project })),
      await send('stranger@example.org', anonymous({ project }), { 'idempotency-key': 'later' }),
    ];
    bed.owner.isUnavailable = false;
    for (const answer of answers)
      expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    expect(await bed.list()).toEqual([]);
    const again = { 'idempotency-key': 'later' };
    expect((await send('stranger@example.org', anonymous({ project }), again)).status).toBe(200);
  });

  it('still mails account links and notices', async () => {
    await bed.service.start();
    await bed.bus.publish({
      id: '018f0000-0000-7000-8000-0000000000e1',
      topic: 'mail.requested',
      payload: {
        projectId: testProject.id,
        projectNumber: testProject.number,
        projectName: testProject.name,
        to: 'new@example.org',
        name: null,
        template: 'verify-email',
        token: 'token',
        expiresAt: new Date(bed.clock.now()).toISOString(),
      },
    });
    await until(async () => (await bed.list()).some(({ to }) => to[0] === 'new@example.org'));
    expect((await bed.list()).map(({ status }) => status)).not.toContain('failed');
  });
});

describe('the mails of a visitor', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed({ mailer: createFakeMailer() });
    bed.users.add('user@example.org');
  });
  afterAll(() => bed.close());
  beforeEach(() => bed.database.query('DELETE FROM visitor_days'));

  const user = (n: number) => `018f0000-0000-7000-8000-0000000000${n}`;
  const withBudget = (emailPerVisitorPerDay: number | undefined) => ({
    ...testProject,
    settings: emailPerVisitorPerDay === undefined ? {} : { emailPerVisitorPerDay },
  });
  const send = (identity: Identity, to: string | string[] = 'user@example.org', headers = {}) =>
    bed.send({ to, subject: 'x', html: 'x' }, { identity, headers });
  const codes = (answers: { status: number }[], status: number) =>
    answers.filter((answer) => answer.status === status).length;

  it('are as many recipients a day as the project says, in parallel too, sent or refused', async () => {
    const caller = anonymous({ project: withBudget(7) });
    const to = ['user@example.org', 'stranger@example.org'];
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => send(caller, to[n % 2])),
    );
    expect([codes(answers, 200), codes(answers, 429)]).toEqual([7, 13]);
    expect(answers.find(({ status }) => status === 429)?.body.code).toBe('visitor_budget');
    bed.clock.pass(24 * 60 * 60_000);
    expect((await send(caller)).status).toBe(200);
  });

  it('go down with each 403, with an Idempotency-Key too', async () => {
    const caller = asUser(user(10), { project: withBudget(3) });
    for (const key of ['a', 'b', 'c'])
      expect((await send(caller, 'stranger@example.org', { 'idempotency-key': key })).status).toBe(
        403,
      );
    expect((await send(caller, 'stranger@example.org')).status).toBe(429);
    expect((await send(caller)).status).toBe(429);
  });

  it('are five times as many for all users at an address, and a hundred where none is set', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        send(asUser(user(10 + n), { project: withBudget(2), ip: '2001:db8::/64' })),
      ),
    );
    expect([codes(answers, 200), codes(answers, 429)]).toEqual([10, 10]);
    const elsewhere = { project: withBudget(2), ip: '2001:db8:0:1::/64' };
    expect((await send(asUser(user(40), elsewhere))).status).toBe(200);
    const ten = Array.from({ length: 10 }, (_, n) => `p${n}@example.org`);
    const byDefault = anonymous({ project: withBudget(undefined), ip: '192.0.2.77' });
    for (let n = 0; n < 10; n++) expect((await send(byDefault, ten)).status).toBe(200);
    expect((await send(byDefault)).status).toBe(429);
  });

  it('do not bound owners and keys, and come back where nothing could be stored', async () => {
    const project = withBudget(0);
    for (const caller of [asOwner({ project }), asKey({ project })])
      expect((await send(caller)).status).toBe(200);
    await bed.database.query('INSERT INTO sending_stops VALUES ($1, now())', [testProject.number]);
    const caller = anonymous({ project: withBudget(1) });
    for (let n = 0; n < 3; n++) expect((await send(caller)).status).toBe(403);
    await bed.database.query('DELETE FROM sending_stops');
    expect((await send(caller)).status).toBe(200);
    expect((await send(caller)).status).toBe(429);
  });
});
