import {
  type AccountDirectory,
  ApiError,
  type emailRoutes,
  isAmong,
  type ProjectDirectory,
  platformProject,
  type RouteBody,
} from '@backlot/contract';
import { type FairShares, toRequester } from '@backlot/fair-shares';
import type { Identity } from '@backlot/identity';
import type { Sender } from '../mails/mail.ts';
import { type AppOrigins, appOrigins } from '../template-texts/app-origins.ts';
import { checkOrigins } from './check-template.ts';
import { readData } from './data.ts';
import { renderWords, type Words } from './render.ts';
import type { StoredTemplate, Templates } from './templates.ts';

export type MailBody = RouteBody<typeof emailRoutes.sendEmail>;
type Recipients = string | string[];

/** A mail that is ready but for its sender: what it says, and to whom it goes. */
export interface ComposedMail extends Words {
  to: Recipients;
  /** A visitor's own words, of which there are none once the project has a template. */
  yieldsToTemplates?: boolean;
  sender: Sender;
}

export interface ComposerDeps {
  templates: Templates;
  projects: ProjectDirectory;
  accounts: AccountDirectory;
  /** The gateway's public address, under which a project's files are. */
  publicUrl: string;
  /** Of what keeps a core busy: a template is checked, or filled in. */
  turns: FairShares;
}

export type Composer = ReturnType<typeof createComposer>;

/** Visitors and users; the owner, keys and the operator may send whatever they like. */
const isVisitor = ({ caller }: Identity) => caller === 'anonymous' || caller === 'user';

export const ownWordsRefused = () =>
  new ApiError(
    'forbidden',
    'This app sends only mails that its owner has worded: name one as "template".',
    {
      hint: 'The owner says so by the setting mailContent, "templates" or "anything" (PATCH /api/platform/projects/<id>); the owner and secret keys may send any words.',
    },
  );

const checkAmongCallers = ({ name, callers }: StoredTemplate, identity: Identity) => {
  const { caller: kind, role, isGuest } = identity;
  if (!isVisitor(identity) || isAmong(callers, { kind, role, isGuest })) return;
  const hint = `The callers of the mail template "${name}", which the owner sets, say who may.`;
  throw kind === 'anonymous' && callers.length > 0
    ? new ApiError('unauthenticated', 'Sign in to send this mail.', { hint })
    : new ApiError('forbidden', 'This app does not allow you this mail.', { hint });
};

/** Whose bounces they are; a mail to the owner, who is known, comes back to nobody. */
const senderFor = (identity: Identity, to: MailBody['to']): Sender => {
  if (!isVisitor(identity) || to === 'owner') return 'project';
  return to === 'caller' ? 'asked' : 'visitors';
};

/** What the template's owner has not left to visitors. */
const checkLeftToVisitors = ({ name, sendTo }: StoredTemplate, body: MailBody) => {
  const kept: (keyof MailBody)[] = ['cc', 'bcc'];
  if (sendTo !== 'owner') kept.push('replyTo');
  if (sendTo === 'anyone') kept.push('attachments');
  const refused = kept.find((field) => body[field] !== undefined);
  if (refused !== undefined)
    throw new ApiError(
      'invalid_body',
      `"${refused}" is not for visitors with the mail template "${name}".`,
    );
  if (sendTo !== 'anyone' && body.to !== undefined && body.to !== sendTo)
    throw new ApiError(
      'invalid_body',
      `"to" can not be chosen: the mail template "${name}" goes to the ${sendTo}.`,
    );
};

export const createComposer = ({
  templates,
  projects,
  accounts,
  publicUrl,
  turns,
}: ComposerDeps) => {
  /** @throws ApiError recipient_not_allowed, invalid_body */
  const findCaller = async ({ caller, project, userId }: Identity): Promise<string> => {
    if (userId === null)
      throw new ApiError('invalid_body', '"to" is missing: this caller has no address of its own.');
    const home = caller === 'user' ? project.number : platformProject.number;
    const account = await accounts.findAccount(home, userId);
    if (account?.emailVerified && account.email !== null) return account.email;
    const message = 'This mail goes to your own address, which you have not confirmed yet.';
    throw new ApiError('recipient_not_allowed', message, {
      hint: 'Follow the link in the mail that came at sign-up, or ask for a new password: that mail confirms it too.',
    });
  };

  const chooseRecipients = async (
    { name, sendTo }: StoredTemplate,
    identity: Identity,
    to: MailBody['to'],
  ): Promise<Recipients> => {
    const chosen = to ?? (sendTo === 'anyone' ? undefined : (sendTo ?? undefined));
    if (chosen === 'caller') return findCaller(identity);
    if (chosen !== undefined) return chosen;
    throw new ApiError('invalid_body', `"to" is missing: the mail template "${name}" has none.`);
  };

  const findApp = async ({ project }: Identity): Promise<AppOrigins> => {
    const snapshot = await projects.findProject(project.id);
    return appOrigins(snapshot ?? { id: project.id, settings: {} }, publicUrl);
  };

  const inTurn = <T>(identity: Identity, work: () => T): Promise<T> =>
    turns.run(toRequester(identity), async () => work());

  return {
    findApp,
    inTurn,

    /** @throws ApiError forbidden, unauthenticated, invalid_body, recipient_not_allowed, conflict */
    async compose(identity: Identity, body: MailBody): Promise<ComposedMail> {
      const { template: name, data = {}, to, subject = '', html = '' } = body;
      if (name === undefined) {
        const { mailContent } = identity.project.settings;
        const isFree = !isVisitor(identity) || mailContent === 'anything';
        if (!isFree && mailContent === 'templates') throw ownWordsRefused();
        const yieldsToTemplates = !isFree;
        const sender = senderFor(identity, to);
        return { to: to ?? [], sender, subject, html, yieldsToTemplates };
      }
      const template = await templates.find(identity.project.number, name);
      if (!template || template.sendTo === null)
        throw new ApiError('invalid_body', `"template": this app has no mail of that name.`);
      checkAmongCallers(template, identity);
      if (isVisitor(identity)) checkLeftToVisitors(template, body);
      const app = await findApp(identity);
      checkOrigins(template, app);
      const refusesLinks = isVisitor(identity) && template.sendTo === 'anyone';
      const words = await inTurn(identity, () =>
        renderWords(template, readData(template.fields, data, { app, refusesLinks })),
      );
      const chosen = await chooseRecipients(template, identity, to);
      return { ...words, to: chosen, sender: senderFor(identity, template.sendTo) };
    },
  };
};
