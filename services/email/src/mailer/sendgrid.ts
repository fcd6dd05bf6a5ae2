import sharedClient from '@sendgrid/client';
import sharedService from '@sendgrid/mail';
import {
  type Attachment,
  createMessageId,
  HandoverUnknown,
  type Mailer,
  MailRefused,
} from './mailer.ts';

export interface SendgridOptions {
  apiKey: string;
  /** `https://api.sendgrid.com`, or a counterpart of it. */
  baseUrl: string;
  /** For one mail. */
  timeoutMs: number;
}

const toSendgridFile = ({ name, type, content }: Attachment) => ({
  filename: name,
  type,
  content: Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('base64'),
  disposition: 'attachment',
});

/** Errors that come before anything was sent. */
const notConnected = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH']);

const translate = (error: unknown): Error => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  // The library's error contains the request, and with it the API key.
  const cause = new Error(error instanceof Error ? error.message : String(error));
  if (typeof code === 'number') {
    // SendGrid had the whole message and may have accepted it; only 503 says that it has not.
    if (code >= 500 && code !== 503)
      return new HandoverUnknown(`SendGrid did not confirm the message (${code}).`, { cause });
    // 401 and 403 concern the platform's key, which can be replaced while mails wait.
    const isTemporary = [401, 403, 408, 429, 503].includes(code);
    return new MailRefused(
      isTemporary
        ? `SendGrid takes no mail at the moment (${code}).`
        : `SendGrid refused the message (${code}).`,
      { isTemporary, cause },
    );
  }
  if (notConnected.has(String(code)))
    return new MailRefused('SendGrid is out of reach.', { isTemporary: true, cause });
  return new HandoverUnknown('SendGrid did not confirm the message.', { cause });
};

// The library exports its classes, but its type declarations hide them.
const Client = sharedClient.constructor as new () => typeof sharedClient;
const MailService = sharedService.constructor as new () => typeof sharedService;

/** The library's default client is shared by the whole process; this one has its own key and address. */
const createClient = ({ apiKey, baseUrl, timeoutMs }: SendgridOptions) => {
  const service = new MailService();
  const client = new Client();
  service.setClient(client);
  client.setApiKey(apiKey);
  // After setApiKey, which sets the default address.
  client.setDefaultRequest('baseUrl', baseUrl);
  service.setTimeout(timeoutMs);
  return service;
};

export const createSendgridMailer = (options: SendgridOptions): Mailer => {
  const client = createClient(options);
  return {
    reachesPeople: true,
    async send(mail, handOver) {
      await handOver();
      try {
        await client.send({
          from: { name: mail.from.name, email: mail.from.address },
          // Objects, because the library splits a string into name and address.
          to: mail.to.map((email) => ({ email })),
          ...(mail.cc.length > 0 && { cc: mail.cc.map((email) => ({ email })) }),
          ...(mail.bcc.length > 0 && { bcc: mail.bcc.map((email) => ({ email })) }),
          ...(mail.replyTo !== null && { replyTo: { email: mail.replyTo } }),
          subject: mail.subject,
          html: mail.html,
          ...(mail.text === null ? {} : { text: mail.text }),
          ...(mail.attachments.length > 0 && { attachments: mail.attachments.map(toSendgridFile) }),
          headers: { 'Message-ID': createMessageId(mail) },
          categories: [`project-${mail.projectId}`],
          customArgs: {
            backlot_project: String(mail.projectNumber),
            backlot_mail: mail.id,
          },
        });
      } catch (error) {
        throw translate(error);
      }
      return { status: 'sent', refused: [] };
    },
    async close() {},
  };
};
