import type { ServerResponse } from 'node:http';
import { headLinks, markHref } from '@backlot/design';
import { Html, html } from '@backlot/http';

export interface Page {
  text: string;
  /** Allows scripts and styles of this server, and calls of it; nothing else. */
  policy: string;
}

const sections = [
  ['/docs', 'Docs'],
  ['/console/', 'Console'],
] as const;

/** The bar at the top of every page. @param current the section in which the page is */
export const pageHead = (current: string): Html => {
  const links = sections.map(([href, title]) =>
    href === current
      ? html`<a href="${href}" aria-current="page">${title}</a>`
      : html`<a href="${href}">${title}</a>`,
  );
  return html`<header class="topbar"><a class="brand" href="/"><img class="mark" src="${markHref}" alt="">Backlot</a><nav aria-label="Pages">${links}</nav></header>`;
};

/** @param script address of a module that changes the page */
export const createPage = (title: string, content: Html, script?: string): Page => ({
  text: html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
${new Html(headLinks)}${
  script === undefined
    ? new Html('')
    : html`
<script type="module" src="${script}"></script>`
}
</head>
<body>
${content}
</body>
</html>
`.text,
  policy: [
    "default-src 'none'",
    ...(script === undefined ? [] : ["script-src 'self'"]),
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
});

export const sendPage = (res: ServerResponse, { text, policy }: Page, status = 200): void => {
  res.writeHead(status, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    'Content-Security-Policy': policy,
    'Cache-Control': 'no-store',
  });
  res.end(text);
};
