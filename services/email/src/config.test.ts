import { describe, expect, it } from '@jest/globals';
import { emailConfig } from './config.ts';
import { masterKey, neededSettings } from './testing/test-bed.ts';

const smtp = { BACKLOT_MAILER: 'smtp', BACKLOT_MAIL_DOMAIN: 'mail.example.org' };
const sendgrid = { ...smtp, BACKLOT_MAILER: 'sendgrid' };

describe('the settings', () => {
  it('keeps mails here unless told otherwise', () => {
    expect(emailConfig.read({ ...neededSettings, BACKLOT_MAILER: '' })).toEqual({
      publicUrl: 'http://localhost:8080',
      masterKeys: [masterKey],
      mailer: { kind: 'dev-mailbox' },
      domain: 'backlot.test',
      concurrency: 10,
      ratePerSecond: 100,
      maxWaitingPerProject: 20_000,
    });
  });

  it('reads a mail server’s address, TLS and credentials', () => {
    const readMailer = (BACKLOT_SMTP_URL: string) =>
      emailConfig.read({ ...neededSettings, ...smtp, BACKLOT_SMTP_URL }).mailer;
    expect(readMailer('smtp://ada%40example.org:p%2Fw@smtp.example.org')).toEqual({
      kind: 'smtp',
      host: 'smtp.example.org',
      port: 587,
      implicitTls: false,
      credentials: { user: 'ada@example.org', password: 'p/w' },
      trustedCertificates: undefined,
    });
    expect(readMailer('smtps://[::1]')).toMatchObject({
      host: '::1',
      port: 465,
      implicitTls: true,
      credentials: undefined,
    });
    expect(readMailer('smtp://127.0.0.1:2525')).toMatchObject({ port: 2525 });
  });

  it('reads what SendGrid needs', () => {
    expect(
      emailConfig.read({ ...neededSettings, ...sendgrid, BACKLOT_SENDGRID_API_KEY: 'SG.x' }),
    ).toMatchObject({
      mailer: { kind: 'sendgrid', apiKey: 'SG.x', baseUrl: 'https://api.sendgrid.com' },
      domain: 'mail.example.org',
    });
  });

  it.each([
    ['BACKLOT_MAILER', { BACKLOT_MAILER: 'pigeon' }],
    ['BACKLOT_SECRETS_KEYS', { BACKLOT_SECRETS_KEYS: '' }],
    ['BACKLOT_SMTP_URL', smtp],
    ['BACKLOT_SMTP_URL', { ...smtp, BACKLOT_SMTP_URL: 'https://smtp.example.org' }],
    ['BACKLOT_MAIL_DOMAIN', { BACKLOT_MAILER: 'smtp', BACKLOT_SMTP_URL: 'smtp://x' }],
    ['BACKLOT_MAIL_DOMAIN', { BACKLOT_MAIL_DOMAIN: 'a b' }],
    ['BACKLOT_SENDGRID_API_KEY', sendgrid],
    ['BACKLOT_SENDGRID_API_KEY', { ...sendgrid, BACKLOT_SENDGRID_API_KEY: 'key' }],
    ['BACKLOT_SENDGRID_WEBHOOK_KEY', { BACKLOT_SENDGRID_WEBHOOK_KEY: '?' }],
    ['BACKLOT_MAIL_RATE_PER_SECOND', { BACKLOT_MAIL_RATE_PER_SECOND: '0' }],
  ])('refuses a wrong %s, naming it', (name, env) => {
    expect(() => emailConfig.read({ ...neededSettings, ...env })).toThrow(name);
  });
});
