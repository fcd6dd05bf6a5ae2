import {
  type AccountDirectory,
  creditMillicredits,
  normalizeEmail,
  type Payload,
  type ProjectDirectory,
  type ProjectSnapshot,
  platformProject,
  showProjectName,
} from '@backlot/contract';
import { accountTemplates, noticeTemplate } from '../mail-templates/account-templates.ts';
import type { Words } from '../mail-templates/render.ts';
import type { AskedMails } from '../mails/asked-mails.ts';
import type { NewMail } from '../mails/mail.ts';
import type { Mails } from '../mails/mails.ts';
import { accountMailBounds, noticeBounds } from './account-mail-bounds.ts';
import { noticeContent } from './account-notice.ts';
import { type AccountWordsDeps, createAccountWords } from './account-words.ts';
import { findingContent } from './finding-notice.ts';
import { memberInvitationContent } from './member-invitation.ts';
import {
  allowEmailChangeContent,
  budgetContent,
  confirmNewEmailContent,
  creditsContent,
  deletionsContent,
  groupInviteContent,
  type MailContent,
  render,
  resetPasswordContent,
  sendingStoppedContent,
  signInCodeContent,
  verifyEmailContent,
} from './templates.ts';
import { webhookStoppedContent } from './webhook-notice.ts';

export interface PlatformMailsDeps extends AccountWordsDeps {
  mails: Mails;
  projects: ProjectDirectory;
  accounts: AccountDirectory;
  askedMails: AskedMails;
  fromAddress: string;
  /** Whether mails leave for people, or stay in the dev mailbox. */
  reachesPeople: boolean;
}

interface PlatformMail {
  project: { id: string; number: number };
  fromName: string;
  to: string;
  content: MailContent;
  /** In place of what the content says. */
  words?: Words | undefined;
  eventId: string | null;
  isSecret: boolean;
  askedFrom?: string | undefined;
}

const platformName = 'Backlot';
const linkNames = {
  'verify-email': 'verify',
  'reset-password': 'reset',
  'group-invite': 'join',
  'confirm-new-email': 'change-email',
  'allow-email-change': 'change-email',
  'sign-in-code': 'sign-in',
} as const;
const linkContents = {
  'verify-email': verifyEmailContent,
  'reset-password': resetPasswordContent,
  'group-invite': groupInviteContent,
  'confirm-new-email': confirmNewEmailContent,
  'allow-email-change': allowEmailChangeContent,
  'sign-in-code': signInCodeContent,
} as const;

export type PlatformMails = ReturnType<typeof createPlatformMails>;

/** The platform's own mails: account links for the users of a project, and notices for owners. */
export const createPlatformMails = (deps: PlatformMailsDeps) => {
  const { mails, projects, accounts, publicUrl, fromAddress } = deps;
  const { askedMails } = deps;
  const accountWords = createAccountWords(deps);

  const toNewMail = ({ project, fromName, to, content, words, ...mail }: PlatformMail) => ({
    projectNumber: project.number,
    projectId: project.id,
    recipients: [to],
    from: { name: fromName, address: fromAddress },
    ...(words ?? render(content)),
    isWordedByOwner: words !== undefined,
    ...mail,
  });

  const namesOf = ({ projectId, ...asked }: { projectId: string; projectName: string }) => {
    if (projectId === platformProject.id)
      return { projectName: platformName, fromName: platformName };
    const projectName = showProjectName({ id: projectId, name: asked.projectName });
    return { projectName, fromName: `${projectName} via ${platformName}` };
  };

  const refuse = async (mail: NewMail, reason: string) =>
    void (await mails.accept([{ ...mail, refusal: `Not sent: ${reason}.` }], []));

  const sendToOwner = async (
    ownerId: string,
    eventId: string | null,
    contentFor: (name: string | null) => MailContent,
  ) => {
    const owner = await accounts.findAccount(platformProject.number, ownerId);
    if (!owner || owner.email === null) return;
    const mail = toNewMail({
      project: platformProject,
      fromName: platformName,
      to: owner.email,
      content: contentFor(owner.name),
      eventId,
      isSecret: false,
    });
    await mails.acceptPlatformMail(mail);
  };

  /**
   * Leads to the app's own page where its origin is proven to be the owner's, else to the platform's. A
   * fragment reaches no server log.
   */
  const linkFor = (
    { projectId, template, token }: Payload<'mail.requested'>,
    project: ProjectSnapshot | null,
  ) => {
    const own = projectId === platformProject.id ? undefined : project?.settings.accountPageUrl;
    const isOwnVerified =
      own !== undefined && project?.verifiedOrigins?.includes(new URL(own).origin) === true;
    const page = isOwnVerified ? own : `${publicUrl}/account`;
    return `${page}#project=${encodeURIComponent(projectId)}&${linkNames[template]}=${encodeURIComponent(token)}`;
  };

  /** Users of a preview may be copies of real ones, to whom its links would mean nothing. */
  const isOfPreview = async ({ to }: { to: string }, project: ProjectSnapshot | null) => {
    if (!deps.reachesPeople || !project?.preview) return false;
    const { ownerId } = project;
    const owner = ownerId ? await accounts.findAccount(platformProject.number, ownerId) : null;
    return !owner?.emailVerified || owner.email !== normalizeEmail(to);
  };

  const boundsFor = async (
    { projectNumber, to, ipHash, template }: Payload<'mail.requested'>,
    ownerId: string | null,
  ) => {
    const isWayInOfVerified =
      (template === 'reset-password' || template === 'sign-in-code') &&
      (await accounts.registered(projectNumber, [to])).length > 0;
    return accountMailBounds({ to, ipHash, ownerId, isWayInOfVerified });
  };

  return {
    async sendAccountLink(eventId: string, request: Payload<'mail.requested'>): Promise<void> {
      const { projectId, projectNumber, to, template } = request;
      const isOwn = projectId === platformProject.id;
      const project = await projects.findProject(projectId);
      if (!project && !isOwn) return;
      const { projectName, fromName } = namesOf(request);
      const link = { ...request, projectName, url: linkFor(request, project) };
      const mail = toNewMail({
        project: { id: projectId, number: projectNumber },
        fromName,
        to,
        content: linkContents[template](link),
        words: await accountWords.find(project, accountTemplates[template], link),
        eventId,
        isSecret: true,
        askedFrom: request.ipHash,
      });
      if (await isOfPreview(request, project))
        return refuse(mail, 'a preview mails its owner alone');
      if (!(await askedMails.mayAsk(request.ipHash)))
        return refuse(mail, 'too many mails that were asked for from there could not be delivered');
      if (
        !(await mails.acceptPlatformMail(mail, await boundsFor(request, project?.ownerId ?? null)))
      )
        return refuse(mail, 'too many account mails were asked for');
    },

    /** What goes past its bounds is not kept: nobody waits for it. */
    async sendAccountNotice(eventId: string, asked: Payload<'notice.requested'>): Promise<void> {
      const { projectId, projectNumber: number, to, kind } = asked;
      const project = await projects.findProject(projectId);
      if ((!project && projectId !== platformProject.id) || (await isOfPreview(asked, project)))
        return;
      const { projectName, fromName } = namesOf(asked);
      const notice = { ...asked, projectName };
      const mail = toNewMail({
        project: { id: projectId, number },
        fromName,
        to,
        content: noticeContent(notice),
        words: await accountWords.find(project, noticeTemplate(kind), notice),
        eventId,
        isSecret: false,
      });
      await mails.acceptPlatformMail(mail, noticeBounds(to, project?.ownerId ?? null));
    },

    async sendMemberInvitation(eventId: string, asked: Payload<'member.invited'>): Promise<void> {
      const { to, ipHash, ownerId, token } = asked;
      const project = await projects.findProject(asked.projectId);
      if (project?.status !== 'active' && project?.status !== 'paused') return;
      const url = `${publicUrl}/console/invitation#${encodeURIComponent(token)}`;
      const mail = toNewMail({
        project: platformProject,
        fromName: platformName,
        to,
        content: memberInvitationContent({ ...asked, url }),
        eventId,
        isSecret: true,
        askedFrom: ipHash,
      });
      if (!(await askedMails.mayAsk(ipHash)))
        return refuse(mail, 'too many mails that were asked for from there could not be delivered');
      const bounds = accountMailBounds({ to, ipHash, ownerId, isWayInOfVerified: false });
      if (!(await mails.acceptPlatformMail(mail, bounds)))
        return refuse(mail, 'too many account mails were asked for');
    },

    async sendCreditsWarning(
      eventId: string,
      { ownerId, percent, balanceMillicredits }: Payload<'credits.low'>,
    ): Promise<void> {
      const creditsLeft = Math.floor(Math.max(0, balanceMillicredits) / creditMillicredits);
      await sendToOwner(ownerId, eventId, (name) => creditsContent({ name, percent, creditsLeft }));
    },

    async sendBudgetNotice(
      eventId: string,
      { ownerId, ...budget }: Payload<'budget.reached'>,
    ): Promise<void> {
      await sendToOwner(ownerId, eventId, (name) => budgetContent({ ...budget, name }));
    },

    async sendWebhookNotice(
      eventId: string,
      { ownerId, ...stopped }: Payload<'webhook.stopped'>,
    ): Promise<void> {
      await sendToOwner(ownerId, eventId, (name) => webhookStoppedContent({ ...stopped, name }));
    },

    async sendFindingNotice(
      eventId: string,
      { ownerId, ...told }: Payload<'finding.told'>,
    ): Promise<void> {
      await sendToOwner(ownerId, eventId, (name) => findingContent({ ...told, name }));
    },

    async sendDeletionNotice(
      eventId: string,
      { ownerId, ...deleted }: Payload<'records.deleted'>,
    ): Promise<void> {
      await sendToOwner(ownerId, eventId, (name) => deletionsContent({ ...deleted, name }));
    },

    /** @param isOfVisitors whether they alone may send no more */
    async sendStopNotice(projectId: string, reason: string, isOfVisitors: boolean): Promise<void> {
      const project = await projects.findProject(projectId);
      if (!project?.ownerId) return;
      await sendToOwner(project.ownerId, null, (name) =>
        sendingStoppedContent({ name, projectName: project.name, reason, isOfVisitors }),
      );
    },
  };
};
