import { Readable } from 'node:stream';
import { createTransport, type NodemailerError } from 'nodemailer';
import {
  createMessageId,
  HandoverUnknown,
  type Mailer,
  MailRefused,
  type OutgoingMail,
  type Refusal,
} from './mailer.ts';
import { toNodemailerMessage } from './message.ts';

export interface SmtpOptions {
  host: string;
  port: number;
  /** TLS from the first byte; without it STARTTLS is used where the server offers it. */
  implicitTls: boolean;
  /** Require TLS. */
  credentials: { user: string; password: string } | undefined;
  /** Certificates to trust instead of the well-known ones, in PEM. */
  trustedCertificates: string | undefined;
  /** Connections at a time. */
  connections: number;
  /** For one mail, from its connection to the server's last answer. */
  timeoutMs: number;
}

interface Handover {
  begin: () => Promise<void>;
  /** The server may have received some of the message. */
  hasBegun: boolean;
  /** Why it did not begin. */
  failure: Error | undefined;
}

const formatCode = ({ responseCode }: NodemailerError) =>
  responseCode === undefined ? '' : ` (${responseCode})`;

const toRefusals = (errors: readonly NodemailerError[] = []): Refusal[] =>
  errors.map((error) => ({
    address: error.recipient ?? '',
    reason: `refused by the mail server${formatCode(error)}`,
  }));

/** How Node names certificates that it does not trust. */
const distrust = /CERT|SELF_SIGNED|ISSUER|ERR_TLS/;

/** What a failed attempt means; nodemailer documents its codes in errors.d.ts. */
const translate = (cause: NodemailerError, hasBegun: boolean): Error => {
  const refused = (reason: string, isTemporary: boolean) =>
    new MailRefused(reason, { isTemporary, cause });
  if (cause.responseCode === undefined && hasBegun)
    return new HandoverUnknown('The mail server did not confirm the message.', { cause });
  if (cause.code === 'ETLS' || distrust.test(cause.originalCode ?? ''))
    return refused('The mail server offers no trustworthy encryption.', true);
  switch (cause.code) {
    case 'EAUTH':
      return refused(`The mail server refuses the platform's sign-in${formatCode(cause)}.`, true);
    case 'EENVELOPE':
    case 'EMESSAGE': {
      const errors = cause.rejectedErrors ?? [];
      if (errors.length === 0)
        // Without an answer of the server it was nodemailer that found the message unusable.
        return refused(
          `The mail server refused the message${formatCode(cause)}.`,
          cause.responseCode !== undefined && cause.permanent !== true,
        );
      const who = errors.map((error) => `${error.recipient}${formatCode(error)}`);
      return refused(
        `The mail server refused every recipient: ${who.join(', ')}.`,
        errors.some(({ permanent }) => permanent !== true),
      );
    }
    default:
      return refused(`The mail server is out of reach${formatCode(cause)}.`, true);
  }
};

/** Sends through any SMTP server, over pooled connections. */
export const createSmtpMailer = (options: SmtpOptions): Mailer => {
  const { credentials, trustedCertificates } = options;
  const transport = createTransport({
    pool: true,
    host: options.host,
    port: options.port,
    secure: options.implicitTls,
    // Without this nodemailer sends without signing in if the server offers no TLS.
    requireTLS: credentials !== undefined && !options.implicitTls,
    ...(credentials && { auth: { user: credentials.user, pass: credentials.password } }),
    ...(trustedCertificates && { tls: { ca: trustedCertificates } }),
    maxConnections: options.connections,
    connectionTimeout: options.timeoutMs,
    greetingTimeout: options.timeoutMs,
    socketTimeout: options.timeoutMs,
  });
  /** By message id. */
  const inFlight = new Map<string, Handover>();

  // nodemailer reads the content only after the server has accepted the envelope: until then nothing has
  // been handed over.
  transport.use('stream', ({ data, message }, done) => {
    const handover = inFlight.get(String(data.messageId));
    const read = message.createReadStream.bind(message);
    message.createReadStream = (streamOptions) =>
      Readable.from(
        (async function* () {
          await handover?.begin();
          yield* read(streamOptions);
        })(),
        { objectMode: false },
      );
    done();
  });

  return {
    reachesPeople: true,
    async send(mail: OutgoingMail, handOver) {
      const handover: Handover = {
        hasBegun: false,
        failure: undefined,
        async begin() {
          await handOver().catch((error: Error) => {
            handover.failure = error;
            throw error;
          });
          handover.hasBegun = true;
        },
      };
      const messageId = createMessageId(mail);
      inFlight.set(messageId, handover);
      try {
        const sent = await transport.sendMail({
          ...toNodemailerMessage(mail),
          signal: AbortSignal.timeout(options.timeoutMs),
        });
        return { status: 'sent', refused: toRefusals(sent.rejectedErrors) };
      } catch (error) {
        throw handover.failure ?? translate(error as NodemailerError, handover.hasBegun);
      } finally {
        inFlight.delete(messageId);
      }
    },
    async close() {
      transport.close();
    },
  };
};
