import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { Html, html } from '@backlot/http';

const style = `
:root { color-scheme: light dark; --line: #6b7280; --accent: #1d4ed8; --on-accent: #fff; --bad: #b91c1c; --soft: #f3f4f6; }
@media (prefers-color-scheme: dark) { :root { --line: #9ca3af; --accent: #93c5fd; --on-accent: #111827; --bad: #fca5a5; --soft: #1f2937; } }
body { max-width: 46rem; margin: 0 auto; padding: 2rem 1rem; font: 1rem/1.5 system-ui, sans-serif; }
main.narrow { max-width: 28rem; margin: 0 auto; }
h1 { font-size: 1.4rem; }
h2 { font-size: 1.1rem; margin-top: 2rem; }
a { color: var(--accent); }
table { border-collapse: collapse; }
th, td { padding: .3rem .6rem; border: 1px solid var(--line); text-align: left; vertical-align: top; }
pre { padding: .8rem; overflow-x: auto; border-radius: .4rem; background: var(--soft); font: .85rem/1.5 ui-monospace, monospace; }
label { display: block; font-weight: 600; }
input { box-sizing: border-box; width: 100%; padding: .6rem; margin: .3rem 0 .3rem; border: 1px solid var(--line); border-radius: .4rem; font: inherit; }
button { margin-top: 1rem; padding: .7rem 1.4rem; border: 0; border-radius: .4rem; background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600; cursor: pointer; }
button:disabled { opacity: .6; cursor: default; }
[role=alert] { color: var(--bad); }
`;

const cspHash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

export interface Page {
  text: string;
  /** Allows the page's own style and script, and calls of this server; nothing else. */
  policy: string;
}

/** @param script runs after the content */
export const createPage = (title: string, content: Html, script?: string): Page => ({
  text: html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${new Html(style)}</style>
</head>
<body>
${content}
${new Html(script === undefined ? '' : `<script>${script}</script>`)}
</body>
</html>
`.text,
  policy: [
    "default-src 'none'",
    ...(script === undefined ? [] : [`script-src ${cspHash(script)}`]),
    `style-src ${cspHash(style)}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
});

export const sendPage = (res: ServerResponse, { text, policy }: Page): void => {
  res.writeHead(200, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    'Content-Security-Policy': policy,
    'Cache-Control': 'no-store',
  });
  res.end(text);
};
