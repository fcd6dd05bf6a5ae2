import { ApiError, type ProjectDirectory } from '@backlot/contract';
import { bareApp, toApiError } from '@backlot/http';
import type { ErrorRequestHandler, Express, Request, RequestHandler, Response } from 'express';
import { type MailRow, outgoingOf } from '../../mail.ts';
import { sourceOf } from '../../mailer/source.ts';
import type { Mails } from '../../mails.ts';
import {
  contentOf,
  contentPolicy,
  listPage,
  mailPage,
  messagePage,
  pagePolicy,
  sourcePage,
} from './pages.ts';

const mailsOnPage = 50;

const isLoopback = (address: string) =>
  /^(::ffff:)?127\.\d+\.\d+\.\d+$/.test(address) || address === '::1';
/** Another name may be a stranger's that leads here: its pages must not read what this machine may. */
const isLocalName = (host: string) => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i.test(host);

const send = (res: Response, status: number, html: string, policy = pagePolicy) => {
  res.status(status).set({
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Resource-Policy': 'same-origin',
  });
  res.end(html);
};

const onlyFromHere: RequestHandler = (req, res, next) => {
  const isForwarded =
    req.headers['x-forwarded-for'] !== undefined || req.headers.forwarded !== undefined;
  const isLocal = isLoopback(req.socket.remoteAddress ?? '') && isLocalName(req.headers.host ?? '');
  if (isLocal && !isForwarded) next();
  else send(res, 403, messagePage('The mailbox is shown on its own machine only.'));
};

const notFound = () => new ApiError('not_found', 'There is no such mail.');

const onError: ErrorRequestHandler = (thrown, _req, res, _next) => {
  const error = toApiError(thrown);
  send(res, error.status, messagePage(error.message));
};

/** The dev mailbox for people, below /mailbox/<project>, for a browser on the same machine. */
export const createMailboxPages = (mails: Mails, projects: ProjectDirectory): Express => {
  const app = bareApp();
  app.use(onlyFromHere);

  const projectOf = async (id: string) => {
    const project = await projects.findProject(id);
    if (!project) throw new ApiError('project_not_found', 'There is no such project.');
    return project;
  };
  const show =
    (answer: (res: Response, projectId: string, mail: MailRow, number: number) => unknown) =>
    async ({ params }: Request<{ project: string; mail: string }>, res: Response) => {
      const { id, number } = await projectOf(params.project);
      const mail = await mails.find(number, params.mail);
      if (!mail) throw notFound();
      await answer(res, id, mail, number);
    };

  app.get(['/mailbox/:project', '/mailbox/:project/'], async (req, res) => {
    const { id, number } = await projectOf(String(req.params.project));
    const cursor = typeof req.query.cursor === 'string' ? req.query.cursor : undefined;
    const list = await mails.page(number, { limit: mailsOnPage, cursor }, (row) => row);
    send(res, 200, listPage(id, list));
  });
  app.get(
    '/mailbox/:project/:mail',
    show((res, id, mail) => send(res, 200, mailPage(id, mail))),
  );
  app.get(
    '/mailbox/:project/:mail/html',
    show((res, _id, mail) => send(res, 200, contentOf(mail), contentPolicy)),
  );
  app.get(
    '/mailbox/:project/:mail/source',
    show(async (res, id, mail, number) => {
      const source = await sourceOf(outgoingOf(mail, { id, number }));
      send(res, 200, sourcePage(id, mail, source));
    }),
  );
  app.use((_req, res) => send(res, 404, messagePage('A mailbox is at /mailbox/<project>.')));
  app.use(onError);
  return app;
};
