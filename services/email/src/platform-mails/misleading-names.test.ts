import { anonymous, testProject } from '@backlot/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createMailCalls, createMailingBed, requested } from '../testing/platform-mails.ts';
import type { FakeMailer, TestBed } from '../testing/test-bed.ts';

describe('the platform’s own mails', () => {
  let mailer: FakeMailer;
  let bed: TestBed;
  beforeEach(async () => {
    ({ bed, mailer } = await createMailingBed());
  });
  afterEach(() => bed.close());

  const { sent, tell } = createMailCalls(() => ({ bed, mailer }));

  it.each([
    { name: 'Win at evil.example', invitedBy: 'http://evil.example' },
    { name: 'Win at evil。example', invitedBy: 'www evil' },
    { name: 'РаyРаl', invitedBy: 'Backlot support' },
    { name: 'Locked: call +49 (30) 123-45', invitedBy: 'Call 0301234567' },
  ])('invite by no name that misleads: %j', async (group) => {
    await tell('mail.requested', { ...requested, name: null, template: 'group-invite', group });
    const { subject, text = '', html } = await sent();
    for (const name of Object.values(group)) expect(subject + text + html).not.toContain(name);
    expect(text).toContain('somebody invites you to join a group at');
  });

  it.each([
    ['http://evil.example/prize', 'Hello,'],
    ['You have won. See evil.example', 'Hello,'],
    ['Write to me@evil.example', 'Hello,'],
    ['РаyРаl', 'Hello,'],
    ['customer of Backlot, your account is closed', 'Hello,'],
    ['Dr. Ada D’Arcy-López', 'Hello Dr. Ada D’Arcy-López,'],
  ])('greet nobody by a name that misleads, which a stranger gave: %s', async (name, greeting) => {
    await tell('mail.requested', { ...requested, name });
    const mail = await sent();
    expect(mail.text?.split('\n')[0]).toBe(greeting);
    expect(mail.html).not.toContain('evil.example');
  });

  it('and those of projects keep to one line and one direction, whatever a stored name holds', async () => {
    const projectName = '\u202eShop\r\nBcc: eve\u0085\u2066';
    const name = 'Ada\u2029\u200fLovelace\n';
    for (const template of ['verify-email', 'reset-password'] as const)
      await tell('mail.requested', { ...requested, projectName, name, template });
    await sent(2);
    const project = { ...testProject, name: projectName, settings: { emailRecipients: 'anyone' } };
    await bed.send(
      { to: 'ada@example.org', subject: 'x', html: 'x' },
      { identity: anonymous({ project }) },
    );
    await sent(3);
    for (const mail of mailer.sent) {
      expect(mail.from.name).toMatch(/^Shop Bcc: eve( via Backlot)?$/);
      const shown = [mail.subject, ...(mail.text ?? '').split('\n'), ...mail.html.split('\n')];
      expect(shown.filter((line) => /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u.test(line))).toEqual(
        [],
      );
    }
    expect(mailer.sent.map(({ text }) => text?.split('\n')[0])).toEqual(
      expect.arrayContaining(['Hello Ada Lovelace,']),
    );
    for (const { from } of await bed.list())
      expect(from).toMatch(/^"Shop Bcc: eve( via Backlot)?" <no-reply@backlot\.test>$/);
  });

  it('show the project’s id where its name is a text with an address', async () => {
    const projectName = 'PayPal. Your account is limited: sign in at evil.example';
    await tell('mail.requested', { ...requested, projectName });
    const project = { ...testProject, name: projectName, settings: { emailRecipients: 'anyone' } };
    const to = { to: 'ada@example.org', subject: 'x', html: 'x' };
    await bed.send(to, { identity: anonymous({ project }) });
    await sent(2);
    expect(mailer.sent.map(({ from }) => from.name).sort()).toEqual([
      'Project testproject',
      'Project testproject via Backlot',
    ]);
    for (const { subject, html, text } of mailer.sent)
      expect(subject + html + text).not.toMatch(/PayPal|evil/);
  });
});
