export interface Attachment {
  name: string;
  /** Media type, without parameters. */
  type: string;
  content: Uint8Array;
}

/** A mail as it is handed to a provider. */
export interface OutgoingMail {
  /** Never changes: the message id is made from it. */
  id: string;
  projectNumber: number;
  /** Public id of the project. */
  projectId: string;
  from: { name: string; address: string };
  /** At least one. */
  to: readonly string[];
  cc: readonly string[];
  /** Named in no header. */
  bcc: readonly string[];
  replyTo: string | null;
  subject: string;
  html: string;
  text: string | null;
  attachments: readonly Attachment[];
  createdAt: Date;
}

export interface Refusal {
  address: string;
  /** In our own words, with the provider's code where it has one. */
  reason: string;
}

export interface Delivery {
  status: 'sent' | 'captured';
  /** Recipients that the provider refused while it took others. */
  refused: readonly Refusal[];
}

/** The provider did not accept a mail. The message is shown to the project's owner; the cause is logged. */
export class MailRefused extends Error {
  override readonly name = 'MailRefused';
  /** Whether a later attempt may succeed. */
  readonly isTemporary: boolean;

  constructor(reason: string, options: { isTemporary: boolean; cause?: unknown }) {
    super(reason, { cause: options.cause });
    this.isTemporary = options.isTemporary;
  }
}

/** The provider received the mail but did not confirm it: it may have been delivered. */
export class HandoverUnknown extends Error {
  override readonly name = 'HandoverUnknown';
}

export interface Mailer {
  /** False where mails stay on this machine. */
  reachesPeople: boolean;
  /**
   * Hands the mail to the provider, once.
   * @param handOver to be awaited before the provider gets the message; where it rejects, the mail
   *   must not leave, and `send` rejects with the same error
   * @throws MailRefused, HandoverUnknown
   */
  send(mail: OutgoingMail, handOver: () => Promise<void>): Promise<Delivery>;
  /** Finishes the deliveries in progress. */
  close(): Promise<void>;
}

/** The same in each attempt, so that duplicates can be recognised. */
export const createMessageId = ({ id, from }: OutgoingMail): string =>
  `<${id}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`;
