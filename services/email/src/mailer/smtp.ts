import { Readable } from 'node:stream';
import { createTransport, type NodemailerError } from 'nodemailer';
import {
  HandoverUnknown,
  type Mailer,
  MailRefused,
  messageIdOf,
  type OutgoingMail,
  type Refusal,
} from './mailer.ts';
import { messageOf } from './message.ts';

export interface SmtpOptions {
  host: string;
  port: number;
  /** TLS from the first byte; without it STARTTLS is used where the server offers it. */
  implicitTls: boolean;
  /** With them TLS is a must. */
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
  /** The server may have got some of the message. */
  hasBegun: boolean;
  /** Why it was not begun. */
  failure: Error | undefined;
}

const codeOf = ({ responseCode }: NodemailerError) =>
  responseCode === undefined ? '' : ` (${responseCode})`;

const refusalsOf = (errors: readonly NodemailerError[] = []): Refusal[] =>
  errors.map((error) => ({
    address: error.recipient ?? '',
    reason: `refused by the mail server${codeOf(error)}`,
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
      return refused(`The mail server refuses the platform's sign-in${codeOf(cause)}.`, true);
    case 'EENVELOPE':
    case 'EMESSAGE': {
      const errors = cause.rejectedErrors ?? [];
      if (errors.length === 0)
        // Without an answer of the server it was nodemailer that found the message unusable.
        return refused(
          `The mail server refused the message${codeOf(cause)}.`,
          cause.responseCode !== undefined && cause.permanent !== true,
        );
      const who = errors.map((error) => `${error.recipient}${codeOf(error)}`);
      return refused(
        `The mail server refused every recipient: ${who.join(', ')}.`,
        errors.some((each) => each.permanent !== true),
      );
    }
    default:
      return refused(`The mail server is out of reach${codeOf(cause)}.`, true);
  }
};

/** Any SMTP server, over connections that are kept and shared. */
export const createSmtpMailer = (options: SmtpOptions): Mailer => {
  const { credentials, trustedCertificates } = options;
  const transport = createTransport({
    pool: true,
    host: options.host,
    port: options.port,
    secure: options.implicitTls,
    // nodemailer would sign in nowhere, and send all the same, where TLS is not offered.
    requireTLS: credentials !== undefined && !options.implicitTls,
    ...(credentials && { auth: { user: credentials.user, pass: credentials.password } }),
    ...(trustedCertificates && { tls: { ca: trustedCertificates } }),
    maxConnections: options.connections,
    connectionTimeout: options.timeoutMs,
    greetingTimeout: options.timeoutMs,
    socketTimeout: options.timeoutMs,
  });
  /** By message id. */
  const underWay = new Map<string, Handover>();

  // The content is read once the server has taken the envelope and asked for it: until then nothing
  // has been handed over.
  transport.use('stream', ({ data, message }, done) => {
    const handover = underWay.get(String(data.messageId));
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
      const messageId = messageIdOf(mail);
      underWay.set(messageId, handover);
      try {
        const sent = await transport.sendMail({
          ...messageOf(mail),
          signal: AbortSignal.timeout(options.timeoutMs),
        });
        return { status: 'sent', refused: refusalsOf(sent.rejectedErrors) };
      } catch (error) {
        throw handover.failure ?? translate(error as NodemailerError, handover.hasBegun);
      } finally {
        underWay.delete(messageId);
      }
    },
    async close() {
      transport.close();
    },
  };
};
