import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  ApiError,
  emailRoutes,
  type RouteDefinition,
  type RouteParams,
  type RouteQuery,
} from '@backlot/contract';
import { identify, isFault, type MountedRoute, route, toApiError, validate } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import { type Access, type MailboxAccess, sessionSeconds } from '../mailbox/access.ts';
import {
  contentPage,
  contentPolicy,
  listPage,
  mailPage,
  messagePage,
  openedPage,
  pagePolicy,
  signInPage,
  sourcePage,
} from '../mailbox/pages.ts';
import { messageSource } from '../mailer/message.ts';
import { hideLinks, toOutgoingMail } from '../mails/mail.ts';
import type { Mails } from '../mails/mails.ts';

const mailsOnPage = 50;

export interface MailboxRoutesDeps {
  mails: Mails;
  /** Undefined if there is no mailbox, because mails are sent. */
  mailboxAccess: MailboxAccess | undefined;
  /** Then cookies are sent over HTTPS only. */
  isHttps: boolean;
}

interface HtmlAnswer {
  status?: number;
  html: string;
  policy?: string;
  /** A session to open in this browser. */
  session?: string;
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

const send = (res: ServerResponse, { status = 200, html, policy = pagePolicy }: HtmlAnswer) => {
  res.writeHead(status, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Resource-Policy': 'same-origin',
  });
  res.end(html);
};

/** The pages of the dev mailbox. */
export const mailboxRoutes = ({
  mails,
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
    answer: (visit: Visit<R>, isHead: boolean) => Promise<HtmlAnswer>,
  ): MountedRoute => ({
    definition,
    middleware: (context) => async (req, res) => {
      const identity = identify(req, definition, context);
      try {
        const access = requireMailbox().find(identity, readCookie(req));
        const query = validate(definition.query, req.query, 'invalid_query');
        const params = validate(definition.params, req.params, 'invalid_path');
        const visit = { params, query, identity, access } as Visit<R>;
        const shown = await answer(visit, req.method === 'HEAD');
        if (shown.session !== undefined) res.setHeader('Set-Cookie', cookie(shown.session));
        send(res, shown);
      } catch (thrown) {
        if (!req.headers.accept?.includes('text/html')) throw thrown;
        const error = toApiError(thrown);
        if (isFault(error)) context.log.error({ err: error }, error.message);
        const { status, message } = error;
        const html =
          error instanceof SignInNeeded
            ? signInPage(identity.project.id, message)
            : messagePage(message);
        send(res, { status, html });
      }
    },
  });

  const findMail = async ({ identity, params, access }: MailVisit) => {
    const { showsLinks } = requireAccess(access);
    const mail = await mails.find(identity.project.number, params.mailId);
    if (!mail) throw new ApiError('not_found', 'There is no such mail.');
    return showsLinks ? mail : hideLinks(mail);
  };

  return [
    page(emailRoutes.showMailbox, async ({ identity, query, access }, isHead) => {
      const { id, number } = identity.project;
      if (query.key !== undefined && !isHead) {
        const session = await requireMailbox().spendKey(query.key);
        if (session !== undefined) return { html: openedPage(id), session };
        if (!access) throw new SignInNeeded(keySpent);
        return { html: openedPage(id) };
      }
      requireAccess(access);
      const range = { limit: mailsOnPage, cursor: query.cursor };
      return { html: listPage(id, await mails.page(number, range, (row) => row)) };
    }),
    page(emailRoutes.showMail, async (visit) => ({
      html: mailPage(visit.identity.project.id, await findMail(visit)),
    })),
    page(emailRoutes.showMailContent, async (visit) => ({
      html: contentPage(await findMail(visit)),
      policy: contentPolicy,
    })),
    page(emailRoutes.showMailSource, async (visit) => {
      const { project } = visit.identity;
      const mail = await findMail(visit);
      return {
        html: sourcePage(project.id, mail, await messageSource(toOutgoingMail(mail, project))),
      };
    }),
    route(emailRoutes.openMailbox, async ({ identity }) => ({
      body: { ok: true as const },
      headers: { 'Set-Cookie': cookie(requireMailbox().openSession(identity)) },
    })),
  ];
};
