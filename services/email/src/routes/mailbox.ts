import type { IncomingMessage } from 'node:http';
import {
  ApiError,
  emailRoutes,
  type FileDescription,
  type RouteDefinition,
  type RouteParams,
  type RouteQuery,
} from '@backlot/contract';
import { identify, isFault, type MountedRoute, route, toApiError, validate } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import type { Attachments } from '../attachments/attachments.ts';
import { type Access, type MailboxAccess, sessionSeconds } from '../mailbox/access.ts';
import { type Answer, send } from '../mailbox/answer.ts';
import {
  contentPage,
  contentPolicy,
  filePolicy,
  listPage,
  mailPage,
  messagePage,
  openedPage,
  signInPage,
  sourcePage,
} from '../mailbox/pages.ts';
import { MailRefused } from '../mailer/mailer.ts';
import { messageSource } from '../mailer/message.ts';
import { hideLinks, toOutgoingMail } from '../mails/mail.ts';
import type { Mails } from '../mails/mails.ts';

const mailsOnPage = 50;

export interface MailboxRoutesDeps {
  mails: Mails;
  attachments: Attachments;
  /** Undefined if there is no mailbox, because mails are sent. */
  mailboxAccess: MailboxAccess | undefined;
  /** Then cookies are sent over HTTPS only. */
  isHttps: boolean;
}

interface Visit<R extends RouteDefinition> {
  params: RouteParams<R>;
  query: RouteQuery<R>;
  identity: Identity;
  access: Access | undefined;
}

type MailVisit = Pick<Visit<typeof emailRoutes.showMail>, 'identity' | 'params' | 'access'>;

class SignInNeeded extends ApiError {
  constructor(message: string) {
    super('unauthenticated', message);
  }
}

const ownersOnly = 'Only the owner of the project and the operator may read its mails.';
const keySpent =
  'This link has been used already, or it is out of date. Start `dev` again for a new one, or sign in.';

const requireAccess = (access: Access | undefined): Access => {
  if (!access) throw new SignInNeeded(ownersOnly);
  return access;
};

const readCookie = (req: IncomingMessage) =>
  req.headers.cookie
    ?.split('; ')
    .find((pair) => pair.startsWith(`${emailRoutes.mailboxCookie}=`))
    ?.slice(emailRoutes.mailboxCookie.length + 1);

/** The pages of the dev mailbox. */
export const mailboxRoutes = ({
  mails,
  attachments,
  mailboxAccess,
  isHttps,
}: MailboxRoutesDeps): MountedRoute[] => {
  const cookie = (session: string) =>
    [
      `${emailRoutes.mailboxCookie}=${session}`,
      'Path=/mailbox',
      `Max-Age=${sessionSeconds}`,
      'HttpOnly',
      'SameSite=Strict',
      ...(isHttps ? ['Secure'] : []),
    ].join('; ');
  const requireMailbox = (): MailboxAccess => {
    if (!mailboxAccess) throw new ApiError('not_found', 'Mails are sent; there is no mailbox.');
    return mailboxAccess;
  };

  const page = <const R extends RouteDefinition>(
    definition: R,
    answer: (visit: Visit<R>, isHead: boolean) => Promise<Answer>,
  ): MountedRoute => ({
    definition,
    middleware: (context) => async (req, res) => {
      const identity = identify(req, definition, context);
      try {
        const kept = readCookie(req);
        const access = requireMailbox().find(identity, kept);
        const query = validate(definition.query, req.query, 'invalid_query');
        const params = validate(definition.params, req.params, 'invalid_path');
        const visit = { params, query, identity, access } as Visit<R>;
        const shown = await answer(visit, req.method === 'HEAD');
        const session = shown.session ?? (access && requireMailbox().renewSession(kept));
        if (session !== undefined) res.setHeader('Set-Cookie', cookie(session));
        send(res, shown);
      } catch (thrown) {
        if (!req.headers.accept?.includes('text/html')) throw thrown;
        const error = toApiError(thrown);
        if (isFault(error)) context.log.error({ err: error }, error.message);
        const { status, message } = error;
        const content =
          error instanceof SignInNeeded
            ? signInPage(identity.project.id, message)
            : messagePage(message);
        send(res, { status, content });
      }
    },
  });

  const findMail = async ({ identity, params, access }: MailVisit) => {
    const { showsLinks } = requireAccess(access);
    const mail = await mails.find(identity.project.number, params.mailId);
    if (!mail) throw new ApiError('not_found', 'There is no such mail.');
    return showsLinks ? mail : hideLinks(mail);
  };

  const readFile = async (project: Identity['project'], file: FileDescription) => {
    try {
      return await attachments.use(project, [file], async ([content]) => content ?? '');
    } catch (error) {
      if (!(error instanceof MailRefused)) throw error;
      throw new ApiError(error.isTemporary ? 'unavailable' : 'not_found', error.message);
    }
  };

  return [
    page(emailRoutes.showMailbox, async ({ identity, query, access }, isHead) => {
      const { id, number } = identity.project;
      if (query.key !== undefined && !isHead) {
        const session = await requireMailbox().spendKey(query.key);
        if (session !== undefined) return { content: openedPage(id), session };
        if (!access) throw new SignInNeeded(keySpent);
        return { content: openedPage(id) };
      }
      const { showsLinks } = requireAccess(access);
      const range = { limit: mailsOnPage, cursor: query.cursor };
      return { content: listPage(id, await mails.page(number, range, (row) => row), showsLinks) };
    }),
    page(emailRoutes.showMail, async (visit) => ({
      content: mailPage(visit.identity.project.id, await findMail(visit)),
    })),
    page(emailRoutes.showMailContent, async (visit) => ({
      content: contentPage(await findMail(visit)),
      policy: contentPolicy,
    })),
    page(emailRoutes.showMailSource, async (visit) => {
      const { project } = visit.identity;
      const mail = await findMail(visit);
      return {
        content: sourcePage(project.id, mail, await messageSource(toOutgoingMail(mail, project))),
      };
    }),
    page(emailRoutes.showMailFile, async (visit) => {
      const mail = await findMail(visit);
      const file = mail.files?.find(({ id }) => id === visit.params.fileId);
      if (!file) throw new ApiError('not_found', 'No such file goes along with this mail.');
      return { content: await readFile(visit.identity.project, file), policy: filePolicy };
    }),
    route(emailRoutes.openMailbox, async ({ identity }) => ({
      body: { ok: true as const },
      headers: { 'Set-Cookie': cookie(requireMailbox().openSession(identity)) },
    })),
  ];
};
