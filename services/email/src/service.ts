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
import { largeBodyWork } from '@backlot/fair-shares';
import {
  configRouter,
  createConfigPart,
  createNoteFindings,
  createTellApp,
  createWindowCounts,
  defineService,
  type ServiceContext,
  watchServer,
} from '@backlot/service';
import { createAttachments } from './attachments/attachments.ts';
import { createBounces } from './bounces/bounces.ts';
import { createSignatureCheck } from './bounces/sendgrid-events.ts';
import { createSendingStates } from './bounces/sending-state.ts';
import { createSuppressions } from './bounces/suppressions.ts';
import { type EmailConfig, emailConfig } from './config.ts';
import { createComposer } from './mail-templates/compose.ts';
import { createTemplates } from './mail-templates/templates.ts';
import { createTemplatesConfig } from './mail-templates/templates-config.ts';
import { createMailboxAccess } from './mailbox/access.ts';
import type { Mailer } from './mailer/mailer.ts';
import { watchMailer } from './mailer/watched-mailer.ts';
import { createAskedMails } from './mails/asked-mails.ts';
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
    const { database, outbox, now, log, config } = context;
    const provider = watchServer('mailer', 'degraded');
    const mailer = watchMailer(context.mailer, provider);
    const suppressions = createSuppressions(database, config.masterKeys);
    const visitorMails = createVisitorMails(database, now);
    const windowCounts = createWindowCounts(database, now);
    const askedMails = createAskedMails(windowCounts);
    const ownerMails = createOwnerMails(database, windowCounts);
    const findings = createNoteFindings(outbox, now);
    const mails = createMails({ ...config, database, outbox, now, windowCounts, findings });
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
    const templates = createTemplates(database);
    const { publicUrl } = config;
    const mailTemplates = largeBodyWork();
    const composer = createComposer({ ...context, templates, publicUrl, turns: mailTemplates });
    const configPart = createConfigPart(database, {
      mailTemplates: createTemplatesConfig({
        ...context,
        templates,
        publicUrl,
        turns: mailTemplates,
      }),
    });
    const fromAddress = `no-reply@${config.domain}`;
    const platformMails = createPlatformMails({
      ...context,
      mails,
      templates,
      askedMails,
      fromAddress,
      publicUrl,
      reachesPeople: mailer.reachesPeople,
    });
    const bounces = createBounces({
      database,
      platformMails,
      suppressions,
      askedMails,
      tellApp: createTellApp(outbox, now),
      now,
    });
    const projectHolds = createProjectHolds(context);
    return {
      needs: [provider.find],
      routes: createRoutes({
        mails,
        sendingStates: createSendingStates(database, config.maxWaitingPerProject),
        visitorMails,
        ownerMails,
        attachments,
        templates,
        composer,
        askedMails,
        publicUrl,
        mailboxAccess: mailer.reachesPeople
          ? undefined
          : createMailboxAccess({ ...context, ...config }),
        isHttps: publicUrl.startsWith('https:'),
        recipients,
        fromAddress,
        now,
        bounces,
        checkSendgridSignature:
          config.mailer.kind === 'sendgrid' && config.mailer.webhookKey !== undefined
            ? createSignatureCheck(config.mailer.webhookKey, now)
            : undefined,
      }),
      internal: configRouter(configPart),
      queues: { attachments: attachments.places, mailTemplates },
      subscriptions: {
        'mail.queued': async () => worker.wake(),
        'mail.requested': (payload, eventId) => platformMails.sendAccountLink(eventId, payload),
        'notice.requested': (payload, eventId) => platformMails.sendAccountNotice(eventId, payload),
        'member.invited': (payload, eventId) =>
          platformMails.sendMemberInvitation(eventId, payload),
        'budget.reached': (payload, eventId) => platformMails.sendBudgetNotice(eventId, payload),
        'finding.told': (payload, eventId) => platformMails.sendFindingNotice(eventId, payload),
        'credits.low': (payload, eventId) => platformMails.sendCreditsWarning(eventId, payload),
        // Anybody can sign up with an address that is not theirs.
        'webhook.stopped': (payload, eventId) => platformMails.sendWebhookNotice(eventId, payload),
        'records.deleted': (payload, eventId) => platformMails.sendDeletionNotice(eventId, payload),
        'user.erased': async ({ projectNumber, email, emailVerified }) => {
          if (email !== null && emailVerified !== false)
            await mails.eraseAddress(projectNumber, email);
        },
        'project.erased': ({ projectNumber }) => mails.eraseProject(projectNumber),
        'project.changed': (payload) => projectHolds.update(payload),
      },
      sweeps: [
        { run: () => mails.sweep() },
        findings.sweep,
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
      async stop() {
        await worker.stop();
        await findings.reportAll();
      },
      api: {
        directories: { emailConfig: configPart },
        /** Tells what was noted of mails; also runs every five seconds. */
        reportFindings: findings.report,
        /** Delivers what is due, without waiting for an event. */
        async deliver() {
          await database.acrossProjects(() => deliveries.expire());
          await worker.drain();
        },
      },
    };
  },
});
