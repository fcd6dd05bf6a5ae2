import { originSetting, readSettings } from '@backlot/process';
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
      /** Verifies what the event webhook is told; without it nothing is believed. */
      webhookKey: string | undefined;
    };

/** What the service itself needs; the all-in-one builds it too. */
export interface EmailConfig {
  /** Where the gateway is reached from outside, without a slash at the end. */
  publicUrl: string;
  mailer: MailerConfig;
  /** Mails come from `no-reply@` here. */
  domain: string;
  /** Mails handed to the provider at a time, and a second, by this process. */
  concurrency: number;
  ratePerSecond: number;
  /** A project with more mails waiting may add none. */
  maxWaitingPerProject: number;
}

const domain = z
  .string()
  .max(253)
  .toLowerCase()
  .regex(/^[a-z0-9-]+(\.[a-z0-9-]+)*$/, 'must be a domain such as mail.example.org');

const environment = z.object({
  BACKLOT_PUBLIC_URL: z
    .url({ protocol: /^https?$/ })
    .default('http://localhost:8080')
    .transform((value) => value.replace(/\/+$/, '')),
  BACKLOT_MAILER: z.enum(['dev-mailbox', 'smtp', 'sendgrid']).default('dev-mailbox'),
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
type Settings = z.output<typeof environment>;

/** RFC 6409 and RFC 8314. */
const submissionPort = 587;
const implicitTlsPort = 465;

const required = <T>(value: T | undefined, setting: string, mailer: string): T => {
  if (value === undefined) throw new Error(`Wrong settings:\n  ${setting}: ${mailer} needs it`);
  return value;
};

const smtpOf = (settings: Settings): MailerConfig => {
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

const mailerOf = (settings: Settings): MailerConfig => {
  switch (settings.BACKLOT_MAILER) {
    case 'dev-mailbox':
      return { kind: 'dev-mailbox' };
    case 'smtp':
      return smtpOf(settings);
    case 'sendgrid':
      return {
        kind: 'sendgrid',
        apiKey: required(settings.BACKLOT_SENDGRID_API_KEY, 'BACKLOT_SENDGRID_API_KEY', 'sendgrid'),
        baseUrl: settings.BACKLOT_SENDGRID_URL,
        webhookKey: settings.BACKLOT_SENDGRID_WEBHOOK_KEY,
      };
  }
};

const domainOf = (settings: Settings): string => {
  const { BACKLOT_MAIL_DOMAIN: given, BACKLOT_MAILER: mailer } = settings;
  return mailer === 'dev-mailbox'
    ? (given ?? 'backlot.test')
    : required(given, 'BACKLOT_MAIL_DOMAIN', mailer);
};

/** @throws Error that names each wrong setting */
export const parseConfig = (env: Readonly<Record<string, string | undefined>>): EmailConfig => {
  const settings = readSettings(environment, env);
  return {
    publicUrl: settings.BACKLOT_PUBLIC_URL,
    mailer: mailerOf(settings),
    domain: domainOf(settings),
    concurrency: settings.BACKLOT_MAIL_CONCURRENCY,
    ratePerSecond: settings.BACKLOT_MAIL_RATE_PER_SECOND,
    maxWaitingPerProject: settings.BACKLOT_MAX_WAITING_MAILS,
  };
};

const origins = z.object({
  BACKLOT_AUTH_ORIGIN: originSetting,
  BACKLOT_PROJECTS_ORIGIN: originSetting,
});

/** The services that a process of its own asks. @throws Error that names each wrong setting */
export const parseOrigins = (env: NodeJS.ProcessEnv) => {
  const settings = readSettings(origins, env);
  return { auth: settings.BACKLOT_AUTH_ORIGIN, projects: settings.BACKLOT_PROJECTS_ORIGIN };
};
