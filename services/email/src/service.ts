/**
 * E-mail: to whom a project may send, delivering each mail once, and the platform's own mails. Does not
 * know any provider's protocol (the mailers do) or how many credits an owner has left (the gateway does).
 */
import type {
  AccountDirectory,
  FileDirectory,
  OwnerDirectory,
  ProjectDirectory,
} from '@backlot/contract';
import { createWindowCounts, defineService, type ServiceContext } from '@backlot/service';
import { createAttachments } from './attachments/attachments.ts';
import { createBounces } from './bounces/bounces.ts';
import { createSignatureCheck } from './bounces/sendgrid-events.ts';
import { createSuppressions } from './bounces/suppressions.ts';
import { type EmailConfig, emailConfig } from './config.ts';
import { createMailboxAccess } from './mailbox/access.ts';
import type { Mailer } from './mailer/mailer.ts';
import { createMails } from './mails/mails.ts';
import { createOwnerMails } from './mails/owner-mails.ts';
import { createRecipients } from './mails/recipients.ts';
import { createVisitorMails } from './mails/visitor-mails.ts';
import { createPlatformMails } from './platform-mails/platform-mails.ts';
import { createDeliveries } from './queue/deliveries.ts';
import { createLanes } from './queue/lanes.ts';
import { createMailQueues } from './queue/mail-queue.ts';
import { createPace } from './queue/pace.ts';
import { createProjectHolds } from './queue/project-holds.ts';
import { createRoutes } from './routes/index.ts';

export interface EmailContext extends ServiceContext<EmailConfig> {
  mailer: Mailer;
  /** Settings that the signed identity leaves out. */
  projects: ProjectDirectory;
  accounts: AccountDirectory;
  /** Whether an owner's projects may send to strangers. */
  owners: OwnerDirectory;
  /** Files that go along with mails. */
  files: FileDirectory;
}

/** Finds mails that are due for another attempt or whose event was lost, and renews leases. */
const pollMs = 1000;

export const emailService = defineService({
  name: 'email',
  migrations: new URL('../migrations/', import.meta.url),
  config: emailConfig,
  asks: ['projects', 'accounts', 'owners', 'files'],
  build(context: EmailContext) {
    const { database, outbox, now, log, config, mailer } = context;
    const suppressions = createSuppressions(database, config.masterKeys);
    const visitorMails = createVisitorMails(database, now);
    const windowCounts = createWindowCounts(database, now);
    const ownerMails = createOwnerMails(database, windowCounts);
    const mails = createMails({ ...config, database, outbox, now, windowCounts });
    const deliveries = createDeliveries({
      database,
      now,
      random: Math.random,
      isRepeatable: !mailer.reachesPeople,
    });
    const attachments = createAttachments(context.files);
    const worker = createLanes({
      ...config,
      queues: createMailQueues(database, suppressions, now),
      deliveries,
      mailer,
      attachments,
      pace: createPace(config.ratePerSecond, now),
      log,
    });
    const recipients = createRecipients({
      ...context,
      defaultPolicy: mailer.reachesPeople ? 'known' : 'anyone',
    });
    const fromAddress = `no-reply@${config.domain}`;
    const platformMails = createPlatformMails({
      ...context,
      mails,
      fromAddress,
      publicUrl: config.publicUrl,
    });
    const bounces = createBounces({ database, platformMails, suppressions, now });
    const projectHolds = createProjectHolds(context);
    return {
      routes: createRoutes({
        mails,
        visitorMails,
        ownerMails,
        attachments,
        mailboxAccess: mailer.reachesPeople
          ? undefined
          : createMailboxAccess({ ...context, ...config }),
        isHttps: config.publicUrl.startsWith('https:'),
        recipients,
        fromAddress,
        now,
        bounces,
        checkSendgridSignature:
          config.mailer.kind === 'sendgrid' && config.mailer.webhookKey !== undefined
            ? createSignatureCheck(config.mailer.webhookKey, now)
            : undefined,
      }),
      queues: { attachments: attachments.places },
      subscriptions: {
        'mail.queued': async () => worker.wake(),
        'mail.requested': (payload, eventId) => platformMails.sendAccountLink(eventId, payload),
        'budget.reached': (payload, eventId) => platformMails.sendBudgetNotice(eventId, payload),
        'credits.low': (payload, eventId) => platformMails.sendCreditsWarning(eventId, payload),
        // Anybody can sign up with an address that is not theirs.
        'user.erased': async ({ projectNumber, email, emailVerified }) => {
          if (emailVerified !== false) await mails.eraseAddress(projectNumber, email);
        },
        'project.erased': ({ projectNumber }) => mails.eraseProject(projectNumber),
        'project.changed': (payload) => projectHolds.update(payload),
      },
      sweeps: [
        { run: () => mails.sweep() },
        { run: () => visitorMails.sweep() },
        { run: () => windowCounts.sweep() },
        { run: () => suppressions.moveAddresses() },
        {
          async run() {
            await worker.renew();
            await deliveries.expire();
            worker.wake();
          },
          everyMs: pollMs,
        },
      ],
      start: () => suppressions.moveAddresses(),
      stop: () => worker.stop(),
      api: {
        /** Delivers what is due, without waiting for an event. */
        async deliver() {
          await database.acrossProjects(() => deliveries.expire());
          await worker.drain();
        },
      },
    };
  },
});
