import {
  type AccountDirectory,
  creditMillicredits,
  events,
  type Payload,
  type ProjectDirectory,
  platformProject,
} from '@backlot/contract';
import type { Mails } from './mails.ts';
import {
  creditsLetter,
  type Letter,
  render,
  resetPasswordLetter,
  stoppedLetter,
  verifyEmailLetter,
} from './templates.ts';

export interface OwnMailsDeps {
  mails: Mails;
  projects: ProjectDirectory;
  accounts: AccountDirectory;
  publicUrl: string;
  fromAddress: string;
}

interface Addressed {
  project: { id: string; number: number };
  fromName: string;
  to: string;
  letter: Letter;
  eventId: string | null;
  isSecret: boolean;
}

const platformName = 'Backlot';
const linkNames = { 'verify-email': 'verify', 'reset-password': 'reset' } as const;
const letters = {
  'verify-email': verifyEmailLetter,
  'reset-password': resetPasswordLetter,
} as const;

export type OwnMails = ReturnType<typeof createOwnMails>;

/** The mails that the platform itself sends: to users of a project in its name, and to owners. */
export const createOwnMails = (deps: OwnMailsDeps) => {
  const { mails, projects, accounts, publicUrl, fromAddress } = deps;

  const post = ({ project, fromName, to, letter, eventId, isSecret }: Addressed) =>
    mails.acceptOwn({
      projectNumber: project.number,
      projectId: project.id,
      recipients: [to],
      from: { name: fromName, address: fromAddress },
      ...render(letter),
      eventId,
      isSecret,
    });

  const postToOwner = async (
    ownerId: string,
    eventId: string | null,
    letterFor: (name: string | null) => Letter,
  ) => {
    const owner = await accounts.findAccount(platformProject.number, ownerId);
    if (!owner) return;
    await post({
      project: platformProject,
      fromName: platformName,
      to: owner.email,
      letter: letterFor(owner.name),
      eventId,
      isSecret: false,
    });
  };

  /** To the project's own page where it has named one, else to the platform's. */
  const linkFor = async ({ projectId, template, token }: Payload<'mail.requested'>) => {
    const [origin] = (await projects.findProject(projectId))?.settings.allowedOrigins ?? [];
    const action = `${linkNames[template]}=${encodeURIComponent(token)}`;
    return origin === undefined
      ? `${publicUrl}/account#project=${encodeURIComponent(projectId)}&${action}`
      : `${origin}/?${action}`;
  };

  return {
    /** @throws ZodError where the payload is none of `mail.requested` */
    async requested(eventId: string, payload: unknown): Promise<void> {
      const wanted = events['mail.requested'].parse(payload);
      const { projectId, projectNumber, projectName, to, template } = wanted;
      const letter = letters[template]({ ...wanted, url: await linkFor(wanted) });
      await post({
        project: { id: projectId, number: projectNumber },
        fromName: projectId === platformProject.id ? platformName : projectName,
        to,
        letter,
        eventId,
        isSecret: true,
      });
    },

    /** @throws ZodError where the payload is none of `credits.low` */
    async creditsLow(eventId: string, payload: unknown): Promise<void> {
      const { ownerId, percent, balanceMillicredits } = events['credits.low'].parse(payload);
      const creditsLeft = Math.floor(Math.max(0, balanceMillicredits) / creditMillicredits);
      await postToOwner(ownerId, eventId, (name) => creditsLetter({ name, percent, creditsLeft }));
    },

    async sendingStopped(projectId: string, reason: string): Promise<void> {
      const project = await projects.findProject(projectId);
      if (!project?.ownerId) return;
      await postToOwner(project.ownerId, null, (name) =>
        stoppedLetter({ name, projectName: project.name, reason }),
      );
    },
  };
};
