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
import { refusedPerDay } from './accept-mails.ts';

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
      'User@Example.org',
      'JÖSÉ@example.org',
      'LISTED@example.org',
      'User@BÜCHER.example',
      'user@xn--bcher-kva.example',
      'listed@bücher.example',
    ];
    for (const identity of [anonymous(), signedIn(), asOwner(), asKey()])
      for (const to of [...known, ownerAddress])
        expect([to, (await send(to, identity)).status]).toEqual([to, 200]);
    for (const identity of [asOwner(), asKey()])
      expect(await send('stranger@example.org', identity)).toMatchObject({
        status: 403,
        body: { code: 'recipient_not_allowed' },
      });
  });

  it('is its owner alone in a preview, whose users may be copies of real ones', async () => {
    const project = { ...testProject, settings: { emailRecipients: 'anyone' }, isPreview: true };
    const identity = asKey({ project: project as Identity['project'] });
    for (const to of ['user@example.org', 'listed@example.org', 'stranger@example.org'])
      expect((await send(to, identity)).body).toMatchObject({
        code: 'recipient_not_allowed',
        hint: expect.stringContaining('preview'),
      });
    expect((await send(ownerAddress, identity)).status).toBe(200);
    expect(await bed.list()).toHaveLength(1);
  });

  it('sends nothing for an owner or a key where strangers are among ten, and names none of them', async () => {
    const strangers = ['a@x.example', 'b@x.example', 'c@x.example'];
    const known = ['user@example.org', 'listed@example.org', ownerAddress, 'jösé@example.org'];
    for (const identity of [asOwner(), asKey()]) {
      const answer = await send([...known, ...strangers], identity);
      expect(JSON.stringify(answer.body)).not.toMatch(/x\.example|user@|jösé@/);
      expect(answer.body.code).toBe('recipient_not_allowed');
    }
    expect(await bed.list()).toEqual([]);
  });

  it('holds for copies too, blind ones included', async () => {
    const mail = { to: 'user@example.org', subject: 'x', html: 'x' };
    for (const field of ['cc', 'bcc']) {
      const copy = (address: string, identity: Identity) =>
        bed.send({ ...mail, [field]: address }, { identity });
      expect((await copy('listed@example.org', asKey())).status).toBe(200);
      expect((await copy('stranger@example.org', asKey())).body.code).toBe('recipient_not_allowed');
      expect((await copy('stranger@example.org', signedIn(2))).status).toBe(200);
    }
    await bed.service.deliver();
    expect(JSON.stringify(mailer.taken)).not.toContain('stranger@');
    const answer = { ...mail, replyTo: 'stranger@example.org' };
    expect((await bed.send(answer, { identity: signedIn(2) })).status).toBe(200);
    const identity = { ...signedIn(9, { emailPerVisitorPerDay: 5 }), ip: '203.0.113.9' };
    const all = { ...mail, cc: 'listed@example.org', bcc: 'jösé@example.org' };
    expect((await bed.send(all, { identity })).status).toBe(200);
    expect((await bed.send(all, { identity })).body.code).toBe('visitor_budget');
  });

  it('is told to neither visitor nor user: a refused mail answers and costs as one that is sent, and shows in the owner’s list', async () => {
    const reservation = reserved(10_000).reservation ?? null;
    for (const caller of [reserved(10_000, testProject), { ...signedIn(3), reservation }]) {
      await bed.database.query('DELETE FROM mails');
      await bed.takeUsage();
      const seen = [];
      for (const to of ['user@example.org', 'stranger@example.org']) {
        const { status, body, headers } = await send(to, caller);
        const {
          date,
          'x-request-id': _id,
          'x-backlot-work': _work,
          ...shown
        } = Object.fromEntries(headers);
        const usage = (await bed.takeUsage()).map(({ millicredits, units }) => [
          millicredits,
          units,
        ]);
        seen.push({ status, body, shown, usage });
      }
      expect(seen[1]).toEqual(seen[0]);
      expect(seen[0]).toMatchObject({ status: 200, body: { ok: true }, usage: [[1000, {}]] });
      expect(seen[0]?.shown['backlot-hint']).toContain('Nobody is told');
      await bed.service.deliver();
      expect(mailer.sent.map(({ to }) => to)).not.toContainEqual(['stranger@example.org']);
      const refused = {
        to: ['stranger@example.org'],
        html: '',
        status: 'failed',
        error: 'Not sent: this project may not send to stranger@example.org.',
      };
      const list = await bed.list();
      expect(list.filter(({ status }) => status === 'failed')).toMatchObject([refused]);
      expect(list).toHaveLength(2);
    }
  });

  it('is told by no mail that comes beside others: each address gets one of its own', async () => {
    mailer.taken.length = 0;
    const body = { to: ['user@example.org', 'stranger@example.org'], subject: 'x', html: 'x' };
    const both = { ...body, cc: 'listed@example.org', bcc: ownerAddress };
    await bed.send(both, { identity: signedIn(4) });
    await bed.service.deliver();
    expect(mailer.taken.map(({ to, cc, bcc }) => [...to, cc, bcc]).sort()).toEqual(
      ['listed@example.org', ownerAddress, 'user@example.org'].map((to) => [to, [], []]),
    );
  });

  it('is asked of others in the same way, whoever it is', async () => {
    const asked = (calls: string[], from: number) => calls.slice(from).sort();
    const before = bed.asked.length;
    await send('user@example.org');
    const forUser = asked(bed.asked, before);
    const between = bed.asked.length;
    for (const to of ['stranger@example.org', 'listed@example.org', ownerAddress]) {
      const start = bed.asked.length;
      await send(to);
      expect([to, asked(bed.asked, start)]).toEqual([to, forUser]);
    }
    expect(between).toBeGreaterThan(before);
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
  const callers = [asOwner({ project }), asKey({ project })];
  const user = asUser('018f0000-0000-7000-8000-000000000050', { project });

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

  it('answers visitors and users as ever, and tells its owner in the list', async () => {
    for (const identity of [anonymous({ project }), user])
      for (const to of ['stranger@example.org', 'user@example.org']) {
        const { status, body } = await send(to, identity);
        expect([status, body]).toEqual([200, { ok: true }]);
      }
    expect((await bed.list()).find(({ status }) => status === 'failed')).toMatchObject({
      to: ['stranger@example.org'],
      error: expect.stringContaining('Verify your e-mail address'),
    });
  });

  it('sends to those whom it allows once the address is verified', async () => {
    bed.owner.isVerified = true;
    for (const caller of [...callers, user])
      expect((await send('stranger@example.org', caller)).status).toBe(200);
    expect((await bed.list()).map(({ status }) => status)).not.toContain('failed');
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

  it('go down with each refused one, with an Idempotency-Key too', async () => {
    const caller = asUser(user(10), { project: withBudget(3) });
    for (const key of ['a', 'b', 'c'])
      expect((await send(caller, 'stranger@example.org', { 'idempotency-key': key })).status).toBe(
        200,
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
