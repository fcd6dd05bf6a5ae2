import { countRepeats, type Logger } from '@backlot/telemetry';
import type { Attachments } from '../attachments/attachments.ts';
import { type Delivery, HandoverUnknown, type Mailer, MailRefused } from '../mailer/mailer.ts';
import { ClaimLost, type Deliveries, maxAttempts } from './deliveries.ts';
import type { ClaimedMail, MailQueue } from './mail-queue.ts';
import type { Pace } from './pace.ts';

export interface WorkerDeps {
  queue: MailQueue;
  deliveries: Deliveries;
  mailer: Mailer;
  attachments: Pick<Attachments, 'use'>;
  pace: Pace;
  /** Mails handed over at the same time. */
  concurrency: number;
  log: Logger;
}

export interface Worker {
  /** Looks for mails that are due; returns at once. */
  wake(): void;
  /** Resolves when no mail is due and none is being delivered. */
  drain(): Promise<void>;
  /** Renews the leases of the mails that are being delivered; call it every few seconds. */
  renew(): Promise<void>;
  /** Finishes the mails that are being delivered, and takes no further one. */
  stop(): Promise<void>;
}

const saveAttempts = 20;
const saveDelayMs = 1000;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const suppressedReason = 'suppressed after a bounce or a complaint';

const describe = ({ refused }: Delivery, suppressed: readonly string[]): string | undefined => {
  const lines = [
    ...refused.map(({ address, reason }) => `${address}: ${reason}`),
    ...suppressed.map((address) => `${address}: ${suppressedReason}`),
  ];
  return lines.length === 0 ? undefined : `Not delivered to ${lines.join('; ')}.`;
};

/** Hands mails to the provider: several at a time, each once, no faster than the pace allows. */
export const createWorker = ({
  queue,
  deliveries,
  mailer,
  attachments,
  pace,
  concurrency,
  log,
}: WorkerDeps): Worker => {
  const inFlight = new Map<ClaimedMail, Promise<void>>();
  let running: Promise<void> | undefined;
  let isWakeRequested = false;
  let isStopping = false;

  /** The result of a delivery must survive a short outage of the database. */
  const saveWithRetries = async (write: () => Promise<void>) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await write();
      } catch (error) {
        if (attempt === saveAttempts) throw error;
        await pause(saveDelayMs);
      }
    }
  };

  const fail = (mail: ClaimedMail, error: unknown, isHandedOver: boolean): Promise<void> => {
    if (error instanceof ClaimLost) return Promise.resolve();
    const giveUp = (reason: string) =>
      saveWithRetries(() => deliveries.finish(mail, 'failed', reason));
    if (error instanceof HandoverUnknown)
      return giveUp(`${error.message} It may have arrived, so it is not sent again.`);
    if (error instanceof MailRefused) {
      if (!error.isTemporary) return giveUp(error.message);
    } else if (isHandedOver)
      return giveUp('The delivery broke off. It may have arrived, so it is not sent again.');
    const reason =
      error instanceof MailRefused ? error.message : 'The mail could not be handed over.';
    return mail.attempts < maxAttempts
      ? saveWithRetries(() => deliveries.retryLater(mail, reason))
      : giveUp(`${reason} Given up after ${maxAttempts} attempts.`);
  };

  const deliver = async (mail: ClaimedMail): Promise<void> => {
    const isLeft = (address: string) => !mail.suppressed.includes(address);
    const to = mail.to.filter(isLeft);
    const cc = mail.cc.filter(isLeft);
    const bcc = mail.bcc.filter(isLeft);
    // No provider takes copies of a mail to nobody.
    const addressed = to.length > 0 ? { to, cc, bcc } : { to: cc, cc: [], bcc };
    let isHandedOver = false;
    const handOver = async () => {
      await deliveries.handOver(mail);
      isHandedOver = true;
    };
    let delivery: Delivery;
    try {
      if (mail.isStopped)
        throw new MailRefused('The project is stopped from sending.', { isTemporary: true });
      if (addressed.to.length === 0)
        throw new MailRefused(
          `Every recipient ${bcc.length > 0 ? 'but those in blind copy ' : ''}is ${suppressedReason}.`,
          { isTemporary: false },
        );
      const project = { id: mail.projectId, number: mail.projectNumber };
      delivery = await attachments.use(project, mail.files, (loaded) =>
        mailer.send({ ...mail, ...addressed, attachments: loaded }, handOver),
      );
    } catch (err) {
      log.warn(
        { err, mailId: mail.id, projectNumber: mail.projectNumber },
        'delivery failed; retrying unless it failed for good',
      );
      return fail(mail, err, isHandedOver);
    }
    const error = describe(delivery, mail.suppressed);
    await saveWithRetries(() => deliveries.finish(mail, delivery.status, error));
  };

  const start = (mail: ClaimedMail) => {
    const work = deliver(mail)
      .catch((err: unknown) =>
        log.error({ err, mailId: mail.id }, 'delivery state not saved; lease will expire'),
      )
      .finally(() => inFlight.delete(mail));
    inFlight.set(mail, work);
  };

  const deliverDue = async () => {
    while (!isStopping) {
      if (inFlight.size >= concurrency) {
        await Promise.race(inFlight.values());
        continue;
      }
      const waitMs = pace.waitMs();
      if (waitMs > 0) {
        await pause(waitMs);
        continue;
      }
      const limit = Math.min(concurrency - inFlight.size, pace.free());
      // Before it is known how many there are: another worker goes by the same pace.
      pace.take(limit);
      const mails = await queue.claim(limit);
      pace.take(mails.length - limit);
      if (mails.length === 0) return;
      for (const mail of mails) start(mail);
    }
  };

  const readingFailed = countRepeats((failure) =>
    log.error(failure, 'reading due mails failed; retrying'),
  );

  const run = async () => {
    while (isWakeRequested && !isStopping) {
      isWakeRequested = false;
      await deliverDue().catch(readingFailed);
    }
    running = undefined;
  };

  const wake = () => {
    isWakeRequested = true;
    running ??= run();
  };

  return {
    wake,
    renew: () => deliveries.renew([...inFlight.keys()]),
    async drain() {
      do {
        wake();
        await running;
        await Promise.all(inFlight.values());
      } while (isWakeRequested);
    },
    async stop() {
      isStopping = true;
      await running;
      await Promise.all(inFlight.values());
    },
  };
};
