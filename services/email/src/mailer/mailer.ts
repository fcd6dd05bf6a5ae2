/** A mail as a provider gets it. */
export interface OutgoingMail {
  /** Names the mail for good: the message id is made from it. */
  id: string;
  projectNumber: number;
  /** Public id of the project. */
  projectId: string;
  from: { name: string; address: string };
  /** At least one. */
  to: readonly string[];
  subject: string;
  html: string;
  text: string | null;
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

/** A mail was not taken over. The message is shown to the project's owner; the cause is logged. */
export class MailRefused extends Error {
  override readonly name = 'MailRefused';
  /** Whether the same mail may be taken later. */
  readonly isTemporary: boolean;

  constructor(reason: string, options: { isTemporary: boolean; cause?: unknown }) {
    super(reason, { cause: options.cause });
    this.isTemporary = options.isTemporary;
  }
}

/** The provider got the mail, and nobody heard its answer: it may have been delivered. */
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
  /** Lets what is under way finish. */
  close(): Promise<void>;
}

/** Stable, so that whoever gets a mail twice can tell. */
export const messageIdOf = ({ id, from }: OutgoingMail): string =>
  `<${id}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`;
