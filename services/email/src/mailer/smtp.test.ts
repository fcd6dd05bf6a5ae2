import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningExim, startExim, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { conformsAsMailer, outgoing } from './mailer.conformance.ts';
import { HandoverUnknown, type Mailer, MailRefused } from './mailer.ts';
import { createSmtpMailer, type SmtpOptions } from './smtp.ts';

const freely = async () => {};

describe('the SMTP mailer with exim', () => {
  let exim: RunningExim;
  let folder: string;
  let mailer: Mailer;
  const others: Mailer[] = [];
  const mailerWith = (changes: Partial<SmtpOptions> = {}): Mailer => {
    const created = createSmtpMailer({
      host: '127.0.0.1',
      port: exim.port,
      implicitTls: false,
      credentials: { user: exim.user, password: exim.password },
      trustedCertificates: exim.certificate,
      connections: 5,
      timeoutMs: 20_000,
      ...changes,
    });
    others.push(created);
    return created;
  };
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'backlot-smtp-'));
    exim = await startExim({ dataDir: join(folder, 'exim') });
    mailer = mailerWith();
  }, 300_000);
  afterAll(async () => {
    for (const other of others) await other.close();
    await exim?.stop();
    await rm(folder, { recursive: true });
  });

  const messagesWith = async (text: string) =>
    (await exim.messages()).filter((message) => message.includes(text));
  /** The message that exim keeps for the mail, once it has delivered it. */
  const delivered = (id: string) =>
    until(async () => (await messagesWith(id))[0], { what: `the mail ${id}` });

  conformsAsMailer(() => ({
    mailer,
    async received(text) {
      // exim delivers in a process of its own, after its answer: what comes later is seen by the last.
      const marker = outgoing();
      await mailerWith().send(marker, freely);
      await delivered(marker.id);
      return (await messagesWith(text)).length;
    },
  }));

  it('signs in over TLS, and keeps the message id', async () => {
    const mail = outgoing({ to: ['ada@members.example'] });
    await mailer.send(mail, freely);
    const message = await delivered(mail.id);
    expect(message).toContain(`Message-ID: <${mail.id}@mail.example.org>`);
    expect(message).toMatch(/with esmtpsa/);
    expect(message).toContain('Auto-Submitted: auto-generated');
  });

  it('sends without credentials over TLS where it is offered, unknown certificates refused', async () => {
    const mail = outgoing();
    await mailerWith({ credentials: undefined }).send(mail, freely);
    expect(await delivered(mail.id)).toMatch(/with esmtps /);
    const untrusting = mailerWith({ trustedCertificates: undefined });
    await expect(untrusting.send(outgoing(), freely)).rejects.toMatchObject({
      message: 'The mail server offers no trustworthy encryption.',
      isTemporary: true,
    });
  });

  it('waits where its sign-in is refused, and shows no password', async () => {
    const wrong = mailerWith({ credentials: { user: exim.user, password: 'not the password' } });
    const error = await wrong.send(outgoing(), freely).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(MailRefused);
    expect(error).toMatchObject({
      message: "The mail server refuses the platform's sign-in (535).",
      isTemporary: true,
    });
  });

  it('names recipients that were refused while others got the mail', async () => {
    const mail = outgoing({
      to: ['ada@example.org', 'nobody@example.org', 'bob@example.org', 'later@example.org'],
    });
    expect(await mailer.send(mail, freely)).toEqual({
      status: 'sent',
      refused: [
        { address: 'nobody@example.org', reason: 'refused by the mail server (550)' },
        { address: 'later@example.org', reason: 'refused by the mail server (451)' },
      ],
    });
    expect(await delivered(mail.id)).toMatch(/Envelope-to: ada@example.org,\s+bob@example.org/);
  });

  it('fails for good where all are refused for good, for the moment where one may be taken', async () => {
    let asked = 0;
    const count = async () => void asked++;
    await expect(
      mailer.send(outgoing({ to: ['nobody@a.example', 'nobody@b.example'] }), count),
    ).rejects.toMatchObject({
      message:
        'The mail server refused every recipient: nobody@a.example (550), nobody@b.example (550).',
      isTemporary: false,
    });
    await expect(
      mailer.send(outgoing({ to: ['nobody@a.example', 'later@b.example'] }), count),
    ).rejects.toMatchObject({ isTemporary: true });
    expect(asked).toBe(0);
  });

  it('fails for good with a message past the limit of the server', async () => {
    await expect(
      mailer.send(outgoing({ html: 'x'.repeat(2_000_000) }), freely),
    ).rejects.toMatchObject({
      message: 'The mail server refused the message (552).',
      isTemporary: false,
    });
  });

  it('delivers to addresses of every script', async () => {
    const mail = outgoing({ to: ['jösé@example.org', 'почта@example.org'] });
    expect(await mailer.send(mail, freely)).toMatchObject({ refused: [] });
    expect(await delivered(mail.id)).toMatch(/Envelope-to: jösé@example.org,\s+почта@example.org/);
  });

  it('sends copies, and says where answers go', async () => {
    const mail = outgoing({ cc: ['bob@example.org'], replyTo: 'jösé@example.org' });
    expect(await mailer.send(mail, freely)).toMatchObject({ refused: [] });
    const message = await delivered(mail.id);
    expect(message).toMatch(/Envelope-to: ada@example.org,\s+bob@example.org/);
    expect(message).toMatch(/^To: ada@example\.org$/m);
    expect(message).toMatch(/^Cc: bob@example\.org$/m);
    expect(message).toMatch(/^Reply-To: jösé@example\.org$/m);
  });

  it('sends blind copies that no reader sees', async () => {
    const mail = outgoing({ bcc: ['carol@example.org'] });
    expect(await mailer.send(mail, freely)).toMatchObject({ refused: [] });
    const message = await delivered(mail.id);
    expect(message).toMatch(/Envelope-to: ada@example.org,\s+carol@example.org/);
    expect(message.replace(/^Envelope-to: .*(\n\s.*)*$/m, '')).not.toContain('carol');
  });

  it('sends files as they are, under their names', async () => {
    const content = Buffer.from([0, 255, 10, 46, 13, 10]);
    const mail = outgoing({
      attachments: [
        { name: 'Übersicht "1".bin', type: 'application/octet-stream', content },
        { name: 'a.txt', type: 'text/plain', content: Buffer.from('ä') },
      ],
    });
    await mailer.send(mail, freely);
    const message = await delivered(mail.id);
    expect(message).toContain(content.toString('base64'));
    expect(message.match(/Content-Disposition: attachment/g)).toHaveLength(2);
    expect(message).toMatch(/filename\*0\*=utf-8''%C3%9Cbersicht/);
    expect(message).toMatch(/Content-Type: text\/plain; charset=utf-8; name=a.txt/);
  });

  it('encodes what could end a header', async () => {
    const mail = outgoing({
      from: {
        name: 'Evil" <eve@example.org>\r\nBcc: eve@example.org\r\nX-Evil: yes',
        address: 'no-reply@mail.example.org',
      },
      subject: 'Hi\r\nBcc: eve@example.org\r\n\r\n<script>',
      replyTo: 'bob@example.org\r\nBcc: eve@example.org',
    });
    await mailer.send(mail, freely);
    const message = await delivered(mail.id);
    const head = message.slice(0, message.indexOf('\n\n')).replaceAll(/\n\s+/g, ' ');
    expect(head).not.toMatch(/^(Bcc|X-Evil):/im);
    expect(head.match(/^Envelope-to: .*$/m)?.[0]).toBe('Envelope-to: ada@example.org');
    expect(head).toMatch(/^From: .*<no-reply@mail\.example\.org>$/m);
  });

  it('keeps lines that begin with a dot', async () => {
    const mail = outgoing({ html: '.\r\n..\r\n.hidden\r\n\r\n.\r\nend' });
    await mailer.send(mail, freely);
    const message = await delivered(mail.id);
    expect(message.slice(message.indexOf('\n\n') + 2).trimEnd()).toBe('.\n..\n.hidden\n\n.\nend');
  });

  it('waits while the server is away, and goes on when it is back', async () => {
    await exim.kill();
    await expect(mailer.send(outgoing(), freely)).rejects.toMatchObject({
      message: 'The mail server is out of reach.',
      isTemporary: true,
    });
    await exim.restart();
    const mail = outgoing();
    await mailer.send(mail, freely);
    await delivered(mail.id);
  });
});

describe('the SMTP mailer with a server that breaks off', () => {
  let server: Server;
  let onMessage: (socket: Socket) => void = () => {};
  let onRecipient: (socket: Socket) => void = (socket) => socket.write('250 ok\r\n');
  let mailer: Mailer;
  beforeAll(async () => {
    server = createServer((socket) => {
      let inMessage = false;
      socket.on('error', () => {});
      socket.write('220 flaky\r\n');
      socket.on('data', (chunk) => {
        const text = chunk.toString();
        if (inMessage) {
          if (text.includes('\r\n.\r\n')) onMessage(socket);
        } else if (text.startsWith('RCPT')) onRecipient(socket);
        else if (text.startsWith('DATA')) {
          inMessage = true;
          socket.write('354 go\r\n');
        } else socket.write('250 ok\r\n');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (typeof address !== 'object' || address === null) throw new Error('no port');
    mailer = createSmtpMailer({
      host: '127.0.0.1',
      port: address.port,
      implicitTls: false,
      credentials: undefined,
      trustedCertificates: undefined,
      connections: 1,
      timeoutMs: 2000,
    });
  });
  afterAll(async () => {
    await mailer.close();
    await new Promise((resolve) => server.close(resolve));
  });

  it('does not know what became of a message whose answer was lost', async () => {
    for (const breakOff of [(socket: Socket) => socket.destroy(), () => {}]) {
      onMessage = breakOff;
      await expect(mailer.send(outgoing(), freely)).rejects.toBeInstanceOf(HandoverUnknown);
    }
  });

  it('knows that nothing was handed over before the message was asked for', async () => {
    onRecipient = (socket) => socket.destroy();
    await expect(mailer.send(outgoing(), freely)).rejects.toMatchObject({ isTemporary: true });
    onRecipient = () => {};
    await expect(mailer.send(outgoing(), freely)).rejects.toMatchObject({ isTemporary: true });
  });
});
