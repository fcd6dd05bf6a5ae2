import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { ApiError, type RouteDefinition } from '@backlot/contract';
import { headLinks } from '@backlot/design';
import express, { type Request, type Response } from 'express';
import { Html, html } from '../answer/html.ts';
import { type Call, type RouteRequest, validate } from '../call/call.ts';
import { checkCaller, checkProject, checkRole, identify } from '../call/caller.ts';
import { isFault, toApiError } from '../failure/failure.ts';
import type { MountedRoute, RouteListener } from './mounted-route.ts';

/** A whole document for people, in the one design and without a script, unless it brings its own. */
export interface HtmlPage {
  /** 200 without it. */
  status?: number;
  title: string;
  /** Inside `body`. */
  content: Html;
  /** Origins beside its own to which its forms may lead, redirects included. */
  formOrigins?: readonly string[];
  /** The same text each time: what differs stands in the content. */
  script?: string;
}

export interface Redirect {
  redirect: string;
  /** Default 303, so that the address is read and a reload sends nothing again. */
  redirectStatus?: 302 | 303;
}

export type PageCall<R extends RouteDefinition> = Pick<
  Call<R>,
  'params' | 'query' | 'body' | 'identity'
>;

const formType = 'application/x-www-form-urlencoded';
const defaultFormLimitBytes = 16 * 1024;

const readForm = async (req: RouteRequest, res: ServerResponse, definition: RouteDefinition) => {
  if (!definition.body) return undefined;
  const type = (req.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
  if (type !== formType) {
    throw new ApiError('unsupported_media_type', `Send the form as ${formType}.`);
  }
  const limit = definition.bodyLimitBytes ?? defaultFormLimitBytes;
  const read = express.urlencoded({ extended: false, limit, parameterLimit: 20 });
  await new Promise<void>((resolve, reject) => {
    read(req as Request, res as Response, (cause?: unknown) =>
      cause ? reject(translate(cause)) : resolve(),
    );
  });
  return { ...(req as Request).body } as unknown;
};

/** body-parser marks a body that is the sender's fault with a status. */
const translate = (cause: unknown): unknown => {
  const status = cause instanceof Error && 'status' in cause ? cause.status : undefined;
  switch (status) {
    case 413:
      return new ApiError('body_too_large', 'The form is too large.', { cause });
    case 415:
      return new ApiError('unsupported_media_type', 'This encoding is not supported.', { cause });
    case 400:
      return new ApiError('invalid_body', 'The form is broken.', { cause });
    default:
      return cause;
  }
};

const scriptSource = (script: string) =>
  `script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`;

const contentSecurityPolicy = ({ formOrigins = [], script }: HtmlPage) =>
  [
    "default-src 'none'",
    ...(script === undefined ? [] : [scriptSource(script)]),
    "style-src 'self'",
    "img-src 'self'",
    `form-action ${["'self'", ...formOrigins].join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

const send = (res: ServerResponse, page: HtmlPage, headers: Record<string, string> = {}) => {
  const { text } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${page.title}</title>
${new Html(headLinks)}
</head>
<body>${page.content}${new Html(page.script === undefined ? '' : `<script>${page.script}</script>`)}</body>
</html>
`;
  res.writeHead(page.status ?? 200, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    'Content-Security-Policy': contentSecurityPolicy(page),
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    ...headers,
  });
  res.end(text);
};

const sendFailure = (res: ServerResponse, error: ApiError) =>
  send(
    res,
    {
      status: error.status,
      title: 'Something is not right',
      content: html`<main class="page narrow"><h1>Something is not right</h1><p>${error.message}</p></main>`,
    },
    {
      ...(error.code === 'body_too_large' ? { Connection: 'close' } : {}),
      ...(error.retryAfterSeconds === undefined
        ? {}
        : { 'Retry-After': String(error.retryAfterSeconds) }),
      ...error.headers,
    },
  );

const lead = (res: ServerResponse, { redirect: location, redirectStatus = 303 }: Redirect) => {
  const headers = { Location: location, 'Cache-Control': 'no-store', 'Content-Length': 0 };
  res.writeHead(redirectStatus, headers);
  res.end();
};

/**
 * Binds a handler to the definition of a page (`answers: 'html'`), whose body is a form. To a browser
 * failures are pages too, with the status of their code; a program gets them as from any other route.
 */
export const pageRoute = <const R extends RouteDefinition>(
  definition: R,
  handler: (call: PageCall<R>) => Promise<HtmlPage | Redirect>,
): MountedRoute => ({
  definition,
  middleware: (context): RouteListener => {
    const answer = async (req: RouteRequest, res: ServerResponse) => {
      const identity = identify(req, definition, context);
      checkCaller(definition, identity);
      checkRole(definition, identity);
      checkProject(definition, identity, req.params);
      const form = await readForm(req, res, definition);
      const call = {
        params: validate(definition.params, req.params, 'invalid_path'),
        query: validate(definition.query, req.query, 'invalid_query'),
        body: validate(definition.body, form, 'invalid_body'),
        identity,
      } as PageCall<R>;
      const page = await handler(call);
      if ('redirect' in page) lead(res, page);
      else send(res, page);
    };
    return async (req, res) => {
      try {
        await answer(req, res);
      } catch (thrown) {
        if (!req.headers.accept?.includes('text/html')) throw thrown;
        const error = toApiError(thrown);
        const requestId = req.headers['x-request-id'];
        if (isFault(error)) context.log.error({ err: error, requestId }, error.message);
        if (res.headersSent) req.socket.destroy();
        else sendFailure(res, error);
      }
    };
  },
});
