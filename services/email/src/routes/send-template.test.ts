import { anonymous, asKey, asOwner, asUser, testProject } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  createFakeMailer,
  createTestBed,
  ownerAddress,
  type TestBed,
} from '../testing/test-bed.ts';

const ada = '018f0000-0000-7000-8000-000000000001';
const eve = '018f0000-0000-7000-8000-000000000002';
const receipt = {
  subject: 'Your order {{order}}',
  html: '<p>Thank you, {{name}}.</p>',
  text: 'Thank you, {{name}}.',
  to: 'caller',
  fields: { name: 'string', order: 'id' },
};
const question = {
  subject: 'A question from {{from}}',
  html: '<p>{{message}}</p>',
  to: 'owner',
  callers: ['anyone'],
  fields: { from: 'string', message: 'text' },
};
const invitation = {
  subject: '{{name}} invites you',
  html: '<p>{{name}} invites you: {{message}}</p>',
  to: 'anyone',
  fields: { name: 'string', message: { type: 'text', optional: true } },
};
const own = { to: 'bob@example.org', subject: 'Hello', html: '<p>Your account is locked</p>' };
const data = { name: 'Ada', order: 'a-1' };

describe('mails of templates', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed({ mailer: createFakeMailer() });
    bed.accounts.set(ada, { email: 'ada@example.org', name: 'Ada', emailVerified: true });
    bed.accounts.set(eve, { email: 'eve@example.org', name: 'Eve', emailVerified: false });
    bed.users.add('ada@example.org');
  });
  afterAll(() => bed.close());
  beforeEach(async () => {
    await bed.takeUsage();
    await bed.database.query('DELETE FROM mails');
    await bed.database.query('DELETE FROM mail_templates');
    for (const [name, body] of Object.entries({ receipt, question, invitation }))
      expect(await set(name, body)).toMatchObject({ status: 200 });
  });

  const set = (name: string, body: unknown) =>
    bed.http.call('PUT', `/platform/projects/${testProject.id}/mail-templates/${name}`, {
      identity: asOwner(),
      body,
    });
  const reservation = {
    callId: '018f0000-0000-7000-8000-0000000000c1',
    millicredits: 10_000,
    millicreditsPerUnit: 1000,
  };
  const settings = { emailRecipients: 'anyone' };
  const project = { ...testProject, settings };
  const visitor = anonymous({ project, reservation });
  const user = (id: string, changes = {}) => asUser(id, { project, reservation, ...changes });
  const send = (body: unknown, identity = user(ada), headers: Record<string, string> = {}) =>
    bed.send(body, { identity, headers });
  const refused = async (answer: Awaited<ReturnType<typeof send>>, ...expected: unknown[]) => {
    expect([answer.status, answer.body.code, answer.body.error]).toEqual([
      ...expected.slice(0, 2),
      expect.stringContaining(String(expected[2])),
    ]);
    expect(await bed.list()).toEqual([]);
    expect(await bed.takeUsage()).toEqual([]);
  };

  it('go to the caller’s own verified address, for one credit, in the owner’s words', async () => {
    const answer = await send({ template: 'receipt', data });
    expect([answer.status, answer.body]).toEqual([200, { ok: true }]);
    expect(await bed.takeUsage()).toMatchObject([{ units: { recipients: 1 } }]);
    expect(await bed.list()).toMatchObject([
      { to: ['ada@example.org'], subject: 'Your order a-1', html: '<p>Thank you, Ada.</p>' },
    ]);
    const rows = await bed.database.query('SELECT plain_text FROM mails');
    expect(rows).toEqual([{ plain_text: 'Thank you, Ada.' }]);
    expect((await send({ template: 'receipt', data, to: 'caller' })).status).toBe(200);
  });

  it('go once for one Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'once' };
    const calls = Array.from({ length: 5 }, () =>
      send({ template: 'receipt', data }, user(ada), headers),
    );
    for (const { status } of await Promise.all(calls)) expect([200, 409]).toContain(status);
    expect(await bed.list()).toHaveLength(1);
  });

  it('go to nobody else that a visitor names', async () => {
    const mail = { template: 'receipt', data };
    for (const to of ['bob@example.org', ['ada@example.org'], 'owner'])
      await refused(await send({ ...mail, to }), 400, 'invalid_body', '"to" can not be chosen');
    for (const field of ['cc', 'bcc', 'replyTo'])
      await refused(
        await send({ ...mail, [field]: 'bob@example.org' }),
        400,
        'invalid_body',
        `"${field}" is not for visitors`,
      );
    await refused(await send(mail, user(eve)), 403, 'recipient_not_allowed', 'not confirmed');
    await refused(await send(mail, visitor), 401, 'unauthenticated', 'Sign in');
  });

  it('say nothing but what the fields allow', async () => {
    await refused(
      await send({ template: 'receipt', data: { ...data, html: 'x' } }),
      400,
      'invalid_body',
      '"data.html" is none of the fields',
    );
    await refused(
      await send({ template: 'receipt' }),
      400,
      'invalid_body',
      '"data.name" is missing',
    );
    await refused(
      await send({ template: 'receipt', data, subject: 'x' }),
      400,
      'invalid_body',
      '"subject" may not stand beside "template"',
    );
    await refused(
      await send({ template: 'receipt', data, html: 'x' }),
      400,
      'invalid_body',
      '"html" may not stand beside "template"',
    );
    await refused(await send({ template: 'nothing', data }), 400, 'invalid_body', '"template"');
    await refused(
      await send({ template: 'account.verify', data }),
      400,
      'invalid_body',
      '"template"',
    );
    await refused(await send({ template: 5 }), 400, 'invalid_body', '"template" must be a string');
    await refused(await send({ ...own, data }), 400, 'invalid_body', '"data" needs a "template"');
    await refused(
      await send({ ...own, to: 'caller' }),
      400,
      'invalid_body',
      '"to" may be "caller" beside a "template"',
    );
    await refused(
      await send({ template: 'receipt', data: { name: 'x'.repeat(40_000) } }),
      400,
      'invalid_body',
      '"data" may have at most 32768 bytes',
    );
  });

  it('are sent by whom the owner lets', async () => {
    await set('question', { ...question, callers: ['role:staff'] });
    const mail = { template: 'question', data: { from: 'Bob', message: 'Hi' } };
    await refused(await send(mail), 403, 'forbidden', 'does not allow');
    await refused(await send(mail, visitor), 401, 'unauthenticated', 'Sign in');
    expect((await send(mail, user(ada, { role: 'staff' }))).status).toBe(200);
    await set('question', { ...question, callers: [] });
    expect((await send(mail, visitor)).body.code).toBe('forbidden');
    expect((await send(mail, asKey({ project }))).status).toBe(200);
  });

  it('are sent by no guest where users may, but by whoever else is named', async () => {
    const guest = user(ada, { isGuest: true });
    const mail = { template: 'question', data: { from: 'Bob', message: 'Hi' } };
    for (const [callers, status] of [
      [['users'], 403],
      [['users', 'role:staff'], 403],
      [['role:user'], 200],
      [['anyone'], 200],
    ] as const) {
      await set('question', { ...question, callers });
      expect([callers, (await send(mail, guest)).status]).toEqual([callers, status]);
    }
    await set('question', { ...question, callers: ['users'] });
    expect((await send(mail, user(ada))).status).toBe(200);
  });

  it('go to the owner from anybody, with where answers go', async () => {
    const mail = { template: 'question', data: { from: 'bob@b.example', message: 'Hi <b>\nBye' } };
    expect((await send({ ...mail, replyTo: 'bob@b.example' }, visitor)).status).toBe(200);
    expect(await bed.list()).toMatchObject([
      {
        to: [ownerAddress],
        replyTo: 'bob@b.example',
        subject: 'A question from bob@b.example',
        html: '<p>Hi &lt;b&gt;<br>\nBye</p>',
      },
    ]);
  });

  it('go to others with words that lead nowhere', async () => {
    const to = ['bob@b.example', 'carol@c.example'];
    const mail = { template: 'invitation', data: { name: 'Ada' }, to };
    expect((await send(mail)).headers.get('x-backlot-usage')).toBe('2000');
    expect((await bed.list())[0]).toMatchObject({ to, subject: 'Ada invites you' });
    await bed.database.query('DELETE FROM mails');
    await bed.takeUsage();
    await refused(
      await send({ ...mail, data: { name: 'Go to evil.example' } }),
      400,
      'invalid_body',
      '"data.name" has "evil.example"',
    );
    await refused(await send({ ...mail, to: undefined }), 400, 'invalid_body', '"to" is missing');
    await refused(
      await send({ ...mail, attachments: [ada] }),
      400,
      'invalid_body',
      '"attachments" is not for visitors',
    );
    const free = { ...mail, data: { name: 'See evil.example' } };
    expect((await send(free, asKey({ project }))).status).toBe(200);
  });

  it('go where the owner and keys say, who may add copies', async () => {
    const mail = { template: 'receipt', data, to: 'bob@b.example', bcc: 'carol@c.example' };
    expect((await send(mail, asKey({ project }))).status).toBe(200);
    expect(await bed.list()).toMatchObject([{ to: ['bob@b.example'], bcc: ['carol@c.example'] }]);
    expect((await send({ template: 'receipt', data }, asOwner({ project }))).status).toBe(200);
    expect((await bed.list())[0]).toMatchObject({ to: [ownerAddress] });
    const withoutAddress = await send({ template: 'receipt', data }, asKey({ project }));
    expect([withoutAddress.status, withoutAddress.body.error]).toEqual([
      400,
      expect.stringContaining('"to" is missing'),
    ]);
  });

  describe('beside own words', () => {
    const withContent = (mailContent?: string) => ({
      project: { ...testProject, settings: { ...settings, ...(mailContent && { mailContent }) } },
    });

    it('leave visitors none once there is a template', async () => {
      await refused(await send(own), 403, 'forbidden', 'only mails that its owner has worded');
      const answer = await send(own, visitor);
      expect(answer.body.hint).toContain('mailContent');
      expect((await send(own, asKey({ project }))).status).toBe(200);
      expect((await send(own, asOwner({ project }))).status).toBe(200);
    });

    it('leave visitors all while there is none but of account mails', async () => {
      await bed.database.query('DELETE FROM mail_templates');
      const words = { subject: 'x', html: '<a href="{{link}}">x</a>' };
      expect((await set('account.verify', words)).status).toBe(200);
      expect((await send(own)).status).toBe(200);
    });

    it('do as the setting says where it says something', async () => {
      expect((await send(own, user(ada, withContent('anything')))).status).toBe(200);
      await bed.database.query('DELETE FROM mails');
      await bed.database.query('DELETE FROM mail_templates');
      await bed.takeUsage();
      await refused(
        await send(own, user(ada, withContent('templates'))),
        403,
        'forbidden',
        'worded',
      );
    });
  });
});
