import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError } from '@backlot/contract';
import { type Html, html } from '@backlot/http';
import { findAtHost } from './guessed-pages.ts';
import { createPage, pageHead, sendPage } from './page.ts';

const usualHint =
  'The API is below /api/runtime/<project>; /docs and /llms.txt describe it. The client is /sdk.js.';

const ownPath =
  /(\/(?:docs|console|examples|llms|sdk|packages|healthz|readyz)(?:[a-z0-9./-]*[a-z0-9/])?)/;

/** Paths of this host in a hint, as links. */
const withLinks = (hint: string): readonly Html[] =>
  hint
    .split(ownPath)
    .map((part, index) => (index % 2 === 1 ? html`<a href="${part}">${part}</a>` : html`${part}`));

const page = (hint: string) =>
  createPage(
    'Nothing is here · Backlot',
    html`${pageHead('')}<main class="page">
<h1>There is nothing at this address</h1>
<p>${withLinks(hint)}</p>
<p class="row"><a class="button" href="/">Front page</a><a class="button" href="/console/">Console</a><a class="button" href="/docs">Documentation</a></p>
</main>`,
  );

/** A page to browsers, below /api and to programs the contract's form. @throws ApiError route_not_found */
export const answerNotFound = (req: IncomingMessage, res: ServerResponse, path: string): void => {
  const hint = findAtHost(path) ?? usualHint;
  const isForPeople = req.method === 'GET' && (req.headers.accept ?? '').includes('text/html');
  if (!isForPeople || /^\/api(\/|$)/.test(path))
    throw new ApiError('route_not_found', 'There is no such address.', { hint });
  res.setHeader('Vary', 'Accept');
  sendPage(res, page(hint), 404);
};
