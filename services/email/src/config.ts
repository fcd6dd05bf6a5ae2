import { masterKeysSetting } from '@backlot/sealing';
import { defineConfig, originSetting, publicUrlSetting } from '@backlot/service';
import { z } from 'zod';

export type MailerConfig =
  | { kind: 'dev-mailbox' }
  | {
      kind: 'smtp';
      host: string;
      port: number;
      implicitTls: boolean;
      credentials: { user: string; password: string } | undefined;
      trustedCertificates: string | undefined;
    }
  | {
      kind: 'sendgrid';
      apiKey: string;
      baseUrl: string;
      /** Verifies the events of SendGrid; without it none is accepted. */
      webhookKey: string | undefined;
    };

export interface EmailConfig {
  /** The gateway's public address, without a slash at the end. */
  publicUrl: string;
  /** The keys of address hashes and mailbox sessions are made from them; the first one is current. */
  masterKeys: readonly Buffer[];
  mailer: MailerConfig;
  /** Opens the dev mailbox once; undefined where nobody has such a key. */
  mailboxKey: string | undefined;
  /** Mails come from `no-reply@` here. */
  domain: string;
  /** Mails handed to the provider at a time, and a second, by this process. */
  concurrency: number;
  ratePerSecond: number;
  /** A project with so many mails waiting may add none. */
  maxWaitingPerProject: number;
}

const domain = z
  .string()
  .max(253)
  .toLowerCase()
  .regex(/^[a-z0-9-]+(\.[a-z0-9-]+)*$/, 'must be a domain such as mail.example.org');

const settings = z.object({
  BACKLOT_PUBLIC_URL: publicUrlSetting,
  BACKLOT_SECRETS_KEYS: masterKeysSetting,
  BACKLOT_MAILER: z.enum(['dev-mailbox', 'smtp', 'sendgrid']).default('dev-mailbox'),
  BACKLOT_MAILBOX_KEY: z.string().min(32).max(200).optional(),
  BACKLOT_MAIL_DOMAIN: domain.optional(),
  BACKLOT_MAIL_CONCURRENCY: z.coerce.number().int().min(1).max(100).default(10),
  BACKLOT_MAIL_RATE_PER_SECOND: z.coerce.number().int().min(1).max(10_000).default(100),
  BACKLOT_MAX_WAITING_MAILS: z.coerce.number().int().min(1).max(1_000_000).default(20_000),
  BACKLOT_SMTP_URL: z.url({ protocol: /^smtps?$/ }).optional(),
  BACKLOT_SMTP_CA: z.string().startsWith('-----BEGIN CERTIFICATE-----').optional(),
  BACKLOT_SENDGRID_API_KEY: z.string().startsWith('SG.').optional(),
  BACKLOT_SENDGRID_URL: originSetting.default('https://api.sendgrid.com'),
  BACKLOT_SENDGRID_WEBHOOK_KEY: z.base64().optional(),
});
type Settings = z.output<typeof settings>;

/** RFC 6409 and RFC 8314. */
const submissionPort = 587;
const implicitTlsPort = 465;

const required = <T>(value: T | undefined, setting: string, mailer: string): T => {
  if (value === undefined) throw new Error(`Wrong settings:\n  ${setting}: ${mailer} needs it`);
  return value;
};

const readSmtp = (settings: Settings): MailerConfig => {
  const url = new URL(required(settings.BACKLOT_SMTP_URL, 'BACKLOT_SMTP_URL', 'smtp'));
  const implicitTls = url.protocol === 'smtps:';
  const user = decodeURIComponent(url.username);
  return {
    kind: 'smtp',
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (implicitTls ? implicitTlsPort : submissionPort) : Number(url.port),
    implicitTls,
    credentials: user === '' ? undefined : { user, password: decodeURIComponent(url.password) },
    trustedCertificates: settings.BACKLOT_SMTP_CA,
  };
};

const readMailer = (settings: Settings): MailerConfig => {
  switch (settings.BACKLOT_MAILER) {
    case 'dev-mailbox':
      return { kind: 'dev-mailbox' };
    case 'smtp':
      return readSmtp(settings);
    case 'sendgrid':
      return {
        kind: 'sendgrid',
        apiKey: required(settings.BACKLOT_SENDGRID_API_KEY, 'BACKLOT_SENDGRID_API_KEY', 'sendgrid'),
        baseUrl: settings.BACKLOT_SENDGRID_URL,
        webhookKey: settings.BACKLOT_SENDGRID_WEBHOOK_KEY,
      };
  }
};

const readDomain = (settings: Settings): string => {
  const { BACKLOT_MAIL_DOMAIN: mailDomain, BACKLOT_MAILER: mailer } = settings;
  return mailer === 'dev-mailbox'
    ? (mailDomain ?? 'backlot.test')
    : required(mailDomain, 'BACKLOT_MAIL_DOMAIN', mailer);
};

export const emailConfig = defineConfig(
  settings,
  (values): EmailConfig => ({
    publicUrl: values.BACKLOT_PUBLIC_URL,
    masterKeys: values.BACKLOT_SECRETS_KEYS,
    mailer: readMailer(values),
    mailboxKey: values.BACKLOT_MAILBOX_KEY,
    domain: readDomain(values),
    concurrency: values.BACKLOT_MAIL_CONCURRENCY,
    ratePerSecond: values.BACKLOT_MAIL_RATE_PER_SECOND,
    maxWaitingPerProject: values.BACKLOT_MAX_WAITING_MAILS,
  }),
);
