import { emailRoutes } from '@backlot/contract';
import { asKey, asOperator, asOwner, refusesStrangers, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';

const path = `/projects/${testProject.id}/mail-templates`;
const receipt = {
  subject: 'Your order {{order}}',
  html: '<p>Thank you, {{name}}.</p>{{#items}}<p>{{title}}</p>{{/items}}',
  text: 'Thank you, {{name}}.',
  to: 'caller',
  fields: {
    name: { type: 'string', maxLength: 50 },
    order: 'id',
    items: { type: 'list', fields: { title: 'string' } },
  },
};
const data = { name: 'Ada & <b>', order: 'a-1', items: [{ title: 'Mug' }, { title: 'Pot' }] };

describe('mail templates', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  const call = (method: string, name = '', body?: unknown, identity = asOwner()) =>
    bed.http.call(method, `/platform${path}${name}`, { identity, body });

  for (const [route, request] of [
    [emailRoutes.setMailTemplate, { path: `${path}/receipt`, body: receipt }],
    [emailRoutes.listMailTemplates, { path }],
    [emailRoutes.getMailTemplate, { path: `${path}/receipt` }],
    [emailRoutes.deleteMailTemplate, { path: `${path}/receipt` }],
    [emailRoutes.previewMailTemplate, { path: `${path}/receipt/preview`, body: { data } }],
  ] as const) {
    refusesStrangers(
      route,
      () => bed.http,
      () => request,
    );
  }

  it('are set, replaced, shown, listed without their words and deleted by owner, keys and operator', async () => {
    await call('PUT', '/receipt', { ...receipt, subject: 'Old' });
    const set = await call('PUT', '/receipt', receipt, asKey());
    const shown = {
      name: 'receipt',
      ...receipt,
      callers: ['users'],
      updatedAt: expect.any(String),
    };
    expect([set.status, set.body]).toEqual([200, shown]);
    expect((await call('GET', '/receipt')).body).toEqual(set.body);
    const question = { subject: 'Hi', html: '<p>x</p>', to: 'owner', callers: ['anyone'] };
    expect(await call('PUT', '/a-question', question, asOperator())).toMatchObject({
      status: 200,
      body: { to: 'owner', callers: ['anyone'], fields: {} },
    });
    const { body } = await call('GET');
    const { html: _html, text: _text, ...summary } = shown;
    expect(body).toEqual({
      items: [expect.objectContaining({ name: 'a-question' }), summary],
      hasMore: false,
      nextCursor: null,
    });
    expect(body.items[0]).not.toHaveProperty('html');
    expect(await call('DELETE', '/a-question')).toMatchObject({ status: 200, body: { ok: true } });
    for (const method of ['DELETE', 'GET'])
      expect(await call(method, '/a-question')).toMatchObject({ status: 404 });
  });

  it('show what a mail would say, without sending it', async () => {
    await call('PUT', '/receipt', receipt);
    const shown = await call('POST', '/receipt/preview', { data });
    expect([shown.status, shown.body]).toEqual([
      200,
      {
        subject: 'Your order a-1',
        html: '<p>Thank you, Ada &amp; &lt;b&gt;.</p><p>Mug</p><p>Pot</p>',
        text: 'Thank you, Ada & <b>.',
      },
    ]);
    expect(await call('POST', '/receipt/preview', { data: { name: 'Ada' } })).toMatchObject({
      status: 400,
      body: { error: '"data.order" is missing; "data.items" is missing.' },
    });
    expect(await call('POST', '/receit/preview', { data })).toMatchObject({ status: 404 });
    expect(await bed.list()).toEqual([]);
  });

  it.each<[string, Record<string, unknown>]>([
    ['"to" is missing', { to: undefined }],
    ['"to"', { to: 'everybody' }],
    ['"callers.0"', { callers: ['nobody'] }],
    ['"html": line 1, column 1: values are always escaped', { html: '{{{name}}}' }],
    ['"subject": line 1, column 4', { subject: 'Hi {{x}}' }],
    ['"text": line 2, column 1', { text: 'Hi\n{{&name}}' }],
    ['"subject" must be one line', { subject: 'a\nb' }],
    ['"html" may have at most 65536', { html: 'x'.repeat(65_537) }],
    ['"html" may have at most 65536 bytes', { html: 'é'.repeat(40_000) }],
    ['"html": line 1, column 1: <script>', { html: '<script>' }],
    ['leads to no origin of the app (it has none)', { html: '<a href="https://a.example/">x</a>' }],
    ['"fields.a-b" must be named by a letter', { fields: { 'a-b': 'string' } }],
    ['"fields.constructor" must be named', { fields: { constructor: 'string' } }],
    ['"fields.x" must be a type', { fields: { x: 'colour' } }],
    [
      '"fields" may have at most 40 keys',
      { fields: Object.fromEntries(Array.from({ length: 41 }, (_, n) => [`x${n}`, 'string'])) },
    ],
    [
      '"fields" may have at most 8192 bytes',
      {
        fields: Object.fromEntries(
          Array.from({ length: 40 }, (_, n) => [
            `x${n}`,
            { type: 'string', enum: Array(3).fill('y'.repeat(90)) },
          ]),
        ),
      },
    ],
    ['colour', { colour: 'red' }],
  ])('are refused with %s', async (reason, change) => {
    const answer = await call('PUT', '/wrong', {
      subject: 'x',
      html: 'x',
      to: 'caller',
      fields: { name: 'string' },
      ...change,
    });
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_body']);
    expect(answer.body.error).toContain(reason);
    expect(await call('GET', '/wrong')).toMatchObject({ status: 404 });
  });

  it('have names that calls can say, and account mails those of theirs', async () => {
    for (const name of ['Receipt', 'a.b', 'account.other', '1', 'x'.repeat(64)])
      expect(await call('PUT', `/${name}`, receipt)).toMatchObject({
        status: 400,
        body: { code: 'invalid_path' },
      });
  });

  it('word account mails, which say the link and have fields of their own', async () => {
    const words = {
      subject: 'Join {{team}}',
      html: '<p>{{inviter}}: <a href="{{link}}">Join</a></p>',
    };
    const set = await call('PUT', '/account.invite', words);
    expect(set).toMatchObject({ status: 200, body: { fields: { team: 'string', link: 'url' } } });
    expect(set.body).not.toHaveProperty('to');
    for (const [reason, body] of [
      ['has to say {{link}}', { ...words, html: '<p>Hello</p>' }],
      ['has to say {{link}}', { ...words, html: '{{#name}}<a href="{{link}}">x</a>{{/name}}' }],
      ['"text": "account.invite" has to say {{link}}', { ...words, text: 'Hello' }],
      ['"to" is given', { ...words, to: 'anyone' }],
      ['"fields" is given', { ...words, fields: {} }],
      ['{{newEmail}} is none', { ...words, subject: '{{newEmail}}' }],
      ['{{link}} is none', { ...words, subject: '{{link}}' }],
    ] as const)
      expect((await call('PUT', '/account.invite', body)).body.error).toContain(reason);
    expect((await call('POST', '/account.invite/preview', {})).body).toEqual({
      subject: 'Join Red team',
      html: '<p>Bob Jones: <a href="http://localhost:8080/account#sample">Join</a></p>',
    });
    expect(await call('DELETE', '/account.invite')).toMatchObject({ status: 200 });
  });

  it('lead to origins that are the app’s, as long as they are', async () => {
    const worded = { ...receipt, html: '<a href="https://app.example/x">x</a>' };
    expect(await call('PUT', '/links', worded)).toMatchObject({ status: 400 });
    bed.setProject({ settings: { allowedOrigins: ['https://app.example'] } });
    expect(await call('PUT', '/links', worded)).toMatchObject({ status: 200 });
    expect(await call('POST', '/links/preview', { data })).toMatchObject({ status: 200 });
    bed.setProject({ settings: {} });
    expect(await call('POST', '/links/preview', { data })).toMatchObject({
      status: 409,
      body: { code: 'conflict', error: expect.stringContaining('https://app.example') },
    });
    await call('DELETE', '/links');
  });

  it('say to owners of older projects that visitors may send any words too', async () => {
    const open = asOwner({ project: { ...testProject, settings: { mailContent: 'anything' } } });
    const set = await call('PUT', '/receipt', receipt, open);
    expect(set.headers.get('backlot-hint')).toContain('"mailContent": "templates"');
    expect((await call('GET', '', undefined, open)).body.advice).toContain('mailContent');
    expect((await call('PUT', '/receipt', receipt)).headers.get('backlot-hint')).toBeNull();
    expect((await call('GET')).body).not.toHaveProperty('advice');
  });

  it('belong to one project, which has at most 100, also when they are set at once', async () => {
    const project = { ...testProject, id: 'other', number: 1002 };
    const other = asOwner({ project });
    const ofOther = (method: string, name = '', body?: unknown) =>
      bed.http.call(method, `/platform/projects/other/mail-templates${name}`, {
        identity: other,
        body,
      });
    expect((await ofOther('GET')).body.items).toEqual([]);
    expect(await ofOther('GET', '/receipt')).toMatchObject({ status: 404 });
    const worded = { subject: 'x', html: 'x', to: 'caller' };
    const answers = [];
    for (let batch = 0; batch < 11; batch++)
      answers.push(
        ...(await Promise.all(
          Array.from({ length: 10 }, (_, n) => ofOther('PUT', `/t${batch}-${n}`, worded)),
        )),
      );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(100);
    expect(answers.find(({ status }) => status === 403)?.body.code).toBe('template_limit');
    expect(await ofOther('PUT', '/t0-0', worded)).toMatchObject({ status: 200 });
  });
});
