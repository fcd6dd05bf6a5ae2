import type { Logger } from '@backlot/telemetry';
import { ClaimLost, type Deliveries, maxAttempts } from './deliveries.ts';
import { type Delivery, HandoverUnknown, type Mailer, MailRefused } from './mailer/mailer.ts';
import type { Pace } from './pace.ts';
import type { ClaimedMail, Turns } from './turns.ts';

export interface WorkerDeps {
  turns: Turns;
  deliveries: Deliveries;
  mailer: Mailer;
  pace: Pace;
  /** Mails handed over at a time. */
  concurrency: number;
  log: Logger;
}

export interface Worker {
  /** Looks for mails that are due; returns at once. */
  wake(): void;
  /** Resolves when no mail is due and none is under way. */
  drain(): Promise<void>;
  /** Keeps the mails under way from other workers; to be called every few seconds. */
  renew(): Promise<void>;
  /** Lets mails under way finish, and takes no further one. */
  stop(): Promise<void>;
}

const recordTries = 20;
const recordDelayMs = 1000;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const suppressedReason = 'suppressed after a bounce or a complaint';

const describe = ({ refused }: Delivery, suppressed: readonly string[]): string | undefined => {
  const lines = [
    ...refused.map(({ address, reason }) => `${address}: ${reason}`),
    ...suppressed.map((address) => `${address}: ${suppressedReason}`),
  ];
  return lines.length === 0 ? undefined : `Not delivered to ${lines.join('; ')}.`;
};

/** Hands mails to the provider: several at a time, each once, no faster than the pace. */
export const createWorker = ({
  turns,
  deliveries,
  mailer,
  pace,
  concurrency,
  log,
}: WorkerDeps): Worker => {
  const underWay = new Map<ClaimedMail, Promise<void>>();
  let running: Promise<void> | undefined;
  let isWoken = false;
  let isStopping = false;

  /** What has become of the mail must not be lost for a moment's loss of the database. */
  const record = async (write: () => Promise<void>) => {
    for (let tries = 1; ; tries++) {
      try {
        return await write();
      } catch (error) {
        if (tries === recordTries) throw error;
        await pause(recordDelayMs);
      }
    }
  };

  const fail = (mail: ClaimedMail, error: unknown, isHandedOver: boolean): Promise<void> => {
    if (error instanceof ClaimLost) return Promise.resolve();
    const give = (reason: string) => record(() => deliveries.finish(mail, 'failed', reason));
    if (error instanceof HandoverUnknown)
      return give(`${error.message} It may have arrived, so it is not sent again.`);
    if (error instanceof MailRefused) {
      if (!error.isTemporary) return give(error.message);
    } else if (isHandedOver)
      return give('The delivery broke off. It may have arrived, so it is not sent again.');
    const reason =
      error instanceof MailRefused ? error.message : 'The mail could not be handed over.';
    return mail.attempts < maxAttempts
      ? record(() => deliveries.retryLater(mail, reason))
      : give(`${reason} Given up after ${maxAttempts} attempts.`);
  };

  const deliver = async (mail: ClaimedMail): Promise<void> => {
    const to = mail.to.filter((address) => !mail.suppressed.includes(address));
    let isHandedOver = false;
    const handOver = async () => {
      await deliveries.handOver(mail);
      isHandedOver = true;
    };
    let delivery: Delivery;
    try {
      if (mail.isStopped)
        throw new MailRefused('The project is stopped from sending.', { isTemporary: true });
      if (to.length === 0)
        throw new MailRefused(`Every recipient is ${suppressedReason}.`, { isTemporary: false });
      delivery = await mailer.send({ ...mail, to }, handOver);
    } catch (err) {
      log.warn(
        { err, mailId: mail.id, projectNumber: mail.projectNumber },
        'a mail did not go out',
      );
      return fail(mail, err, isHandedOver);
    }
    const error = describe(delivery, mail.suppressed);
    await record(() => deliveries.finish(mail, delivery.status, error));
  };

  const begin = (mail: ClaimedMail) => {
    const work = deliver(mail)
      .catch((err: unknown) => log.error({ err, mailId: mail.id }, 'a mail is left to its lease'))
      .finally(() => underWay.delete(mail));
    underWay.set(mail, work);
  };

  const deliverDue = async () => {
    while (!isStopping) {
      if (underWay.size >= concurrency) {
        await Promise.race(underWay.values());
        continue;
      }
      const waitMs = pace.waitMs();
      if (waitMs > 0) {
        await pause(waitMs);
        continue;
      }
      const mails = await turns.claim(Math.min(concurrency - underWay.size, pace.free()));
      if (mails.length === 0) return;
      pace.take(mails.length);
      for (const mail of mails) begin(mail);
    }
  };

  const run = async () => {
    while (isWoken && !isStopping) {
      isWoken = false;
      await deliverDue().catch((err: unknown) =>
        log.error({ err }, 'mails that are due could not be read; they are looked for again'),
      );
    }
    running = undefined;
  };

  const wake = () => {
    isWoken = true;
    running ??= run();
  };

  return {
    wake,
    renew: () => deliveries.renew([...underWay.keys()]),
    async drain() {
      do {
        wake();
        await running;
        await Promise.all(underWay.values());
      } while (isWoken);
    },
    async stop() {
      isStopping = true;
      await running;
      await Promise.all(underWay.values());
    },
  };
};
