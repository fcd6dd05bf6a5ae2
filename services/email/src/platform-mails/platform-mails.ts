import {
  type AccountDirectory,
  creditMillicredits,
  type Payload,
  type ProjectDirectory,
  type ProjectSnapshot,
  platformProject,
} from '@backlot/contract';
import type { Mails } from '../mails/mails.ts';
import { showProjectName } from '../mails/shown-name.ts';
import { accountMailBounds } from './account-mail-bounds.ts';
import {
  allowEmailChangeContent,
  budgetContent,
  confirmNewEmailContent,
  creditsContent,
  groupInviteContent,
  type MailContent,
  render,
  resetPasswordContent,
  sendingStoppedContent,
  verifyEmailContent,
} from './templates.ts';

export interface PlatformMailsDeps {
  mails: Mails;
  projects: ProjectDirectory;
  accounts: AccountDirectory;
  publicUrl: string;
  fromAddress: string;
}

interface PlatformMail {
  project: { id: string; number: number };
  fromName: string;
  to: string;
  content: MailContent;
  eventId: string | null;
  isSecret: boolean;
}

const platformName = 'Backlot';
const linkNames = {
  'verify-email': 'verify',
  'reset-password': 'reset',
  'group-invite': 'join',
  'confirm-new-email': 'change-email',
  'allow-email-change': 'change-email',
} as const;
const linkContents = {
  'verify-email': verifyEmailContent,
  'reset-password': resetPasswordContent,
  'group-invite': groupInviteContent,
  'confirm-new-email': confirmNewEmailContent,
  'allow-email-change': allowEmailChangeContent,
} as const;

export type PlatformMails = ReturnType<typeof createPlatformMails>;

/** The platform's own mails: account links for the users of a project, and notices for owners. */
export const createPlatformMails = (deps: PlatformMailsDeps) => {
  const { mails, projects, accounts, publicUrl, fromAddress } = deps;

  const toNewMail = ({ project, fromName, to, content, eventId, isSecret }: PlatformMail) => ({
    projectNumber: project.number,
    projectId: project.id,
    recipients: [to],
    from: { name: fromName, address: fromAddress },
    ...render(content),
    eventId,
    isSecret,
  });

  const sendToOwner = async (
    ownerId: string,
    eventId: string | null,
    contentFor: (name: string | null) => MailContent,
  ) => {
    const owner = await accounts.findAccount(platformProject.number, ownerId);
    if (!owner) return;
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

  const boundsFor = async (
    { projectNumber, to, ipHash, template }: Payload<'mail.requested'>,
    ownerId: string | null,
  ) => {
    const isResetOfVerified =
      template === 'reset-password' && (await accounts.registered(projectNumber, [to])).length > 0;
    return accountMailBounds({ to, ipHash, ownerId, isResetOfVerified });
  };

  return {
    async sendAccountLink(eventId: string, request: Payload<'mail.requested'>): Promise<void> {
      const { projectId, projectNumber, to, template } = request;
      const isOwn = projectId === platformProject.id;
      const project = await projects.findProject(projectId);
      const projectName = isOwn
        ? platformName
        : showProjectName({ id: projectId, name: request.projectName });
      const mail = toNewMail({
        project: { id: projectId, number: projectNumber },
        fromName: isOwn ? platformName : `${projectName} via ${platformName}`,
        to,
        content: linkContents[template]({
          ...request,
          projectName,
          url: linkFor(request, project),
        }),
        eventId,
        isSecret: true,
      });
      if (await mails.acceptPlatformMail(mail, await boundsFor(request, project?.ownerId ?? null)))
        return;
      const refusal = 'Not sent: too many account mails were asked for.';
      await mails.accept([{ ...mail, refusal }], []);
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

    async sendStopNotice(projectId: string, reason: string): Promise<void> {
      const project = await projects.findProject(projectId);
      if (!project?.ownerId) return;
      await sendToOwner(project.ownerId, null, (name) =>
        sendingStoppedContent({ name, projectName: project.name, reason }),
      );
    },
  };
};
