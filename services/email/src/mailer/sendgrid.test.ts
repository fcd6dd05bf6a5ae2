import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type SendgridStub, startSendgridStub } from '../testing/sendgrid-stub.ts';
import { conformsAsMailer, outgoing } from './mailer.conformance.ts';
import { HandoverUnknown, type Mailer, MailRefused } from './mailer.ts';
import { createSendgridMailer } from './sendgrid.ts';

const freely = async () => {};
const apiKey = 'SG.a-key-that-only-tests-know';

describe('the SendGrid mailer', () => {
  let stub: SendgridStub;
  let mailer: Mailer;
  beforeAll(async () => {
    stub = await startSendgridStub();
    mailer = createSendgridMailer({ ...stub, apiKey, timeoutMs: 20_000 });
  });
  afterAll(async () => {
    await mailer.close();
    await stub.stop();
  });
  const failure = async (by = mailer) => {
    const error = await by.send(outgoing(), freely).catch((thrown: unknown) => thrown);
    stub.answer = { status: 202 };
    return error;
  };

  conformsAsMailer(() => ({
    mailer,
    received: async (text) => stub.requests.filter(({ body }) => body.includes(text)).length,
  }));

  it('names project and mail in categories and arguments, and the message by its id', async () => {
    const mail = outgoing({
      to: ['jösé@example.org', 'a,b <c@example.org>'],
      from: { name: 'Ada’s "shop"', address: 'no-reply@mail.example.org' },
      text: 'Hi',
    });
    await mailer.send(mail, freely);
    const { path, authorization, body } = stub.requests.at(-1) ?? {};
    expect([path, authorization]).toEqual(['/v3/mail/send', `Bearer ${apiKey}`]);
    expect(JSON.parse(body ?? '')).toEqual({
      from: { name: 'Ada’s "shop"', email: 'no-reply@mail.example.org' },
      subject: 'Hello',
      personalizations: [
        {
          to: [{ email: 'jösé@example.org' }, { email: 'a,b <c@example.org>' }],
        },
      ],
      content: [
        { type: 'text/plain', value: 'Hi' },
        { type: 'text/html', value: '<p>Hi</p>' },
      ],
      headers: { 'Message-ID': `<${mail.id}@mail.example.org>` },
      categories: ['project-testproject'],
      custom_args: { backlot_project: '1001', backlot_mail: mail.id },
    });
  });

  it('sends files as they are', async () => {
    const content = Buffer.from([0, 255, 10]);
    const file = { name: 'Übersicht 1.bin', type: 'application/octet-stream', content };
    await mailer.send(outgoing({ attachments: [file] }), freely);
    expect(JSON.parse(stub.requests.at(-1)?.body ?? '').attachments).toEqual([
      {
        filename: file.name,
        type: file.type,
        content: content.toString('base64'),
        disposition: 'attachment',
      },
    ]);
  });

  it('sends copies, and says where answers go', async () => {
    const mail = outgoing({
      cc: ['bob@example.org'],
      bcc: ['carol@example.org'],
      replyTo: 'a,b <c@example.org>',
    });
    await mailer.send(mail, freely);
    expect(JSON.parse(stub.requests.at(-1)?.body ?? '')).toMatchObject({
      reply_to: { email: 'a,b <c@example.org>' },
      personalizations: [
        {
          to: [{ email: 'ada@example.org' }],
          cc: [{ email: 'bob@example.org' }],
          bcc: [{ email: 'carol@example.org' }],
        },
      ],
    });
  });

  it.each([
    [400, false],
    [413, false],
    [401, true],
    [403, true],
    [429, true],
    [503, true],
  ])(
    'takes %i as a refusal (for the moment: %s), in our own words',
    async (status, isTemporary) => {
      stub.answer = { status, body: '{"errors":[{"message":"provider text","field":"x"}]}' };
      const error = await failure();
      expect(error).toBeInstanceOf(MailRefused);
      expect(error).toMatchObject({ isTemporary, message: expect.stringContaining(`(${status})`) });
      expect(String(error)).not.toContain('provider text');
    },
  );

  it.each([500, 502, 504])(
    'does not know what became of a mail that it failed over (%i), and asks once',
    async (status) => {
      const before = stub.requests.length;
      stub.answer = { status, body: '{"errors":[{"message":"provider text"}]}' };
      const error = await failure();
      expect(error).toBeInstanceOf(HandoverUnknown);
      expect(error).toMatchObject({ message: `SendGrid did not confirm the message (${status}).` });
      expect(stub.requests).toHaveLength(before + 1);
    },
  );

  it('does not know what became of a mail without an answer, and keeps its key to itself', async () => {
    const hurried = createSendgridMailer({ ...stub, apiKey, timeoutMs: 500 });
    for (const answer of ['break off', 'silence'] as const) {
      stub.answer = answer;
      const error = await failure(answer === 'silence' ? hurried : mailer);
      expect(error).toBeInstanceOf(HandoverUnknown);
      expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(apiKey);
      expect(JSON.stringify((error as Error).cause)).not.toContain(apiKey);
    }
  });

  it('knows that nothing was handed over where nobody answers', async () => {
    const away = createSendgridMailer({ apiKey, baseUrl: 'http://127.0.0.1:1', timeoutMs: 20_000 });
    await expect(away.send(outgoing(), freely)).rejects.toMatchObject({
      message: 'SendGrid is out of reach.',
      isTemporary: true,
    });
  });
});
