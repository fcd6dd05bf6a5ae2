/**
 * E-mail: what a project may send to whom, its delivery, once, and the platform's own mails. Refuses
 * to know how a provider is spoken to (a mailer's business) and what an owner has left.
 */
import type { Bus } from '@backlot/bus';
import type { AccountDirectory, ProjectDirectory } from '@backlot/contract';
import {
  createIdempotencyStore,
  createOutbox,
  createSweeper,
  type Database,
} from '@backlot/database';
import { serviceApp } from '@backlot/http';
import type { IdentitySecret } from '@backlot/identity';
import type { Logger } from '@backlot/telemetry';
import type { Express } from 'express';
import type { EmailConfig } from './config.ts';
import { createDeliveries } from './deliveries.ts';
import { createEventHandler } from './events.ts';
import { createHeldProjects } from './held-projects.ts';
import type { Mailer } from './mailer/mailer.ts';
import { createMails } from './mails.ts';
import { createOwnMails } from './own-mails.ts';
import { createPace } from './pace.ts';
import { createRecipients } from './recipients.ts';
import { createReports } from './reports.ts';
import { routesOf } from './routes/index.ts';
import { createMailboxPages } from './routes/mailbox/index.ts';
import { createSignatureCheck } from './sendgrid-signature.ts';
import { createSending } from './sending.ts';
import { createTurns } from './turns.ts';
import { createWorker } from './worker.ts';

export interface EmailDeps {
  /** Of schema `email`, migrated. */
  database: Database;
  bus: Bus;
  identitySecret: IdentitySecret;
  /** Epoch milliseconds. */
  now: () => number;
  log: Logger;
  config: EmailConfig;
  /** Closed by whoever created it, after `stop`. */
  mailer: Mailer;
  /** Validates answers against the contract; on in tests. */
  checkResponses: boolean;
  /** Settings that the signed identity leaves out. */
  projects: ProjectDirectory;
  accounts: AccountDirectory;
}

export interface EmailService {
  app: Express;
  /** Pages below /mailbox/, for this machine alone; undefined where mails reach people. */
  mailbox: Express | undefined;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Delivers what is due, without waiting to be told. */
  deliver(): Promise<void>;
}

/** Finds mails whose time has come again, and what no event told of; renews leases. */
const pollMs = 1000;

export const createEmailService = (deps: EmailDeps): EmailService => {
  const { database, bus, identitySecret, now, log, config, mailer, checkResponses } = deps;
  const outbox = createOutbox(database, (error) =>
    log.error({ err: error }, 'events wait to be published'),
  );
  const idempotency = createIdempotencyStore(database);
  const mails = createMails({ ...config, database, outbox, now });
  const deliveries = createDeliveries({
    database,
    now,
    random: Math.random,
    isRepeatable: !mailer.reachesPeople,
  });
  const worker = createWorker({
    ...config,
    turns: createTurns(database, now),
    deliveries,
    mailer,
    pace: createPace(config.ratePerSecond, now),
    log,
  });
  const recipients = createRecipients({
    ...deps,
    defaultPolicy: mailer.reachesPeople ? 'known' : 'anyone',
  });
  const fromAddress = `no-reply@${config.domain}`;
  const sending = createSending({ mails, recipients, fromAddress, now });
  const ownMails = createOwnMails({ ...deps, mails, fromAddress, publicUrl: config.publicUrl });
  const reports = createReports({ database, ownMails, now });
  const heldProjects = createHeldProjects(deps);

  const onSweepError = (err: unknown) => log.error({ err }, 'the sweep failed; it runs again');
  const sweeper = createSweeper(async () => {
    await idempotency.sweep();
    await mails.sweep();
  }, onSweepError);
  const poll = createSweeper(
    async () => {
      await worker.renew();
      await deliveries.expire();
      worker.wake();
    },
    onSweepError,
    pollMs,
  );
  return {
    app: serviceApp({
      routes: routesOf({
        mails,
        sending,
        reports,
        checkSendgridSignature:
          config.mailer.kind === 'sendgrid' && config.mailer.webhookKey !== undefined
            ? createSignatureCheck(config.mailer.webhookKey, now)
            : undefined,
      }),
      ready: () => database.query('SELECT 1'),
      identitySecret,
      idempotency,
      now,
      log,
      checkResponses,
    }),
    mailbox: mailer.reachesPeople ? undefined : createMailboxPages(mails, deps.projects),
    async start() {
      await bus.subscribe({
        queue: 'email.deliveries',
        topics: ['mail.queued'],
        handler: async () => worker.wake(),
      });
      await bus.subscribe({
        queue: 'email.mails',
        topics: ['mail.requested', 'credits.low', 'user.erased', 'project.erased'],
        handler: createEventHandler({ mails, ownMails }),
      });
      await bus.subscribe({
        queue: 'email.project-changed',
        topics: ['project.changed'],
        handler: ({ payload }) => heldProjects.changed(payload),
      });
      outbox.start((event) => bus.publish(event));
      sweeper.start();
      poll.start();
    },
    async stop() {
      await Promise.all([sweeper.stop(), worker.stop(), outbox.stop()]);
      // Leases are renewed until the last mail is out.
      await poll.stop();
    },
    async deliver() {
      await deliveries.expire();
      await worker.drain();
    },
  };
};
