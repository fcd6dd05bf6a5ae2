import { createHash } from 'node:crypto';
import { emailRoutes, type FileDescription } from '@backlot/contract';
import { escapeHtml, type Page } from '@backlot/http';
import { displayFrom, type MailRow, recipientsIn } from '../mails/mail.ts';

/** A source for the content security policy. */
const cspHash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const style = `
:root { color-scheme: light dark; --line: #9ca3af; --quiet: #4b5563; --link: #1d4ed8; }
@media (prefers-color-scheme: dark) { :root { --line: #6b7280; --quiet: #d1d5db; --link: #93c5fd; } }
body { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem; font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.4rem; overflow-wrap: anywhere; }
a { color: var(--link); }
table { width: 100%; border-collapse: collapse; }
th, td { padding: .5rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; overflow-wrap: anywhere; }
th { color: var(--quiet); font-weight: 600; white-space: nowrap; }
.head th { width: 6rem; }
.time { white-space: nowrap; }
label { display: block; font-weight: 600; }
input { width: min(100%, 32rem); padding: .5rem; font: inherit; }
button { padding: .5rem 1rem; font: inherit; }
iframe { width: 100%; height: 32rem; border: 1px solid var(--line); border-radius: .5rem; background: #fff; margin-top: 1rem; }
pre { overflow-x: auto; padding: 1rem; border: 1px solid var(--line); border-radius: .5rem; white-space: pre-wrap; overflow-wrap: anywhere; }
`;

/** The token goes into a header that the gateway checks; it is not kept in the page. */
const script = `
document.querySelector('form')?.addEventListener('submit', async (event) => {
  event.preventDefault();
  const form = event.target;
  const message = form.querySelector('[role=alert]');
  message.textContent = '';
  const headers = { Authorization: 'Bearer ' + form.elements.token.value.trim() };
  try {
    const answer = await fetch(form.action, { method: 'POST', headers });
    if (answer.ok) location.replace(form.dataset.mailbox);
    else message.textContent = (await answer.json()).error;
  } catch {
    message.textContent = 'The mailbox did not answer. Try again.';
  }
});
`;

export const pagePolicy = [
  "default-src 'none'",
  `style-src ${cspHash(style)}`,
  `script-src ${cspHash(script)}`,
  "connect-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** For the HTML of a mail: its links open in a new tab, everything else that is active is blocked. */
export const contentPolicy =
  "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; img-src http: https: data:; style-src 'unsafe-inline'; font-src http: https: data:; frame-ancestors 'self'";

/** Of a file: no browser runs it, or shows it within a page. */
export const filePolicy = "default-src 'none'; sandbox; frame-ancestors 'none'";

const page = (title: string, body: string, head = ''): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${style}</style>${head}
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
${body}
</main>
</body>
</html>
`;

const mailboxPath = (projectId: string) =>
  `${emailRoutes.mailboxBase}${encodeURIComponent(projectId)}`;
const time = (at: Date) =>
  `<time datetime="${at.toISOString()}">${at.toISOString().slice(0, 19).replace('T', ' ')} UTC</time>`;
const formatStatus = ({ status, error }: MailRow) =>
  error === null ? status : `${status}: ${error}`;

export const listPage = (projectId: string, { items, nextCursor }: Page<MailRow>): string => {
  const rows = items.map(
    (mail) =>
      `<tr><td><a href="${mailboxPath(projectId)}/${mail.id}">${escapeHtml(mail.subject)}</a></td><td>${escapeHtml([...mail.recipients, ...mail.bcc].join(', '))}</td><td>${escapeHtml(formatStatus(mail))}</td><td class="time">${time(mail.created_at)}</td></tr>`,
  );
  const table = `<table>
<thead><tr><th scope="col">Subject</th><th scope="col">To</th><th scope="col">Status</th><th scope="col">Time</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>`;
  const older =
    nextCursor === null
      ? ''
      : `<p><a href="${mailboxPath(projectId)}?cursor=${encodeURIComponent(nextCursor)}">Older mails</a></p>`;
  return page(
    `Mailbox of ${projectId}`,
    `<p>Mails stay here instead of being sent. Reload to see new ones.</p>${rows.length === 0 ? '<p>There are no mails.</p>' : table}${older}`,
  );
};

const back = (projectId: string) =>
  `<p><a href="${mailboxPath(projectId)}">Mailbox of ${escapeHtml(projectId)}</a></p>`;

const fileLinks = (at: string, files: readonly FileDescription[]) =>
  files
    .map(
      ({ id, name, type, size }) =>
        `<a href="${at}/files/${id}" download>${escapeHtml(name)}</a> (${escapeHtml(type)}, ${size} bytes)`,
    )
    .join('<br>');

export const mailPage = (projectId: string, mail: MailRow): string => {
  const at = `${mailboxPath(projectId)}/${mail.id}`;
  const fields: [string, string][] = [
    ['From', escapeHtml(displayFrom(mail.from_name, mail.from_address))],
    ['To', escapeHtml(recipientsIn(mail).join(', '))],
    ...(mail.cc.length > 0 ? [['Cc', escapeHtml(mail.cc.join(', '))] as [string, string]] : []),
    ...(mail.bcc.length > 0 ? [['Bcc', escapeHtml(mail.bcc.join(', '))] as [string, string]] : []),
    ...(mail.reply_to === null
      ? []
      : [['Reply to', escapeHtml(mail.reply_to)] as [string, string]]),
    ...(mail.files === null ? [] : [['Files', fileLinks(at, mail.files)] as [string, string]]),
    ['Time', time(mail.created_at)],
    ['Status', escapeHtml(formatStatus(mail))],
  ];
  const rows = fields.map(
    ([name, value]) => `<tr><th scope="row">${name}</th><td>${value}</td></tr>`,
  );
  return page(
    mail.subject,
    `${back(projectId)}
<table class="head"><tbody>${rows.join('')}</tbody></table>
<p><a href="${at}/source">Source</a></p>
<iframe src="${at}/html" title="Content of the mail" sandbox="allow-popups allow-popups-to-escape-sandbox"></iframe>`,
  );
};

export const sourcePage = (projectId: string, mail: MailRow, source: string): string =>
  page(
    `Source of “${mail.subject}”`,
    `${back(projectId)}${mail.files === null ? '' : '<p>Its files are left out here.</p>'}<pre tabindex="0" aria-label="Source">${escapeHtml(source)}</pre>`,
  );

/** Links open in a new tab, as the sandbox allows. */
export const contentPage = (mail: MailRow): string => `<base target="_blank">${mail.html}`;

export const messagePage = (message: string): string =>
  page('Mailbox', `<p>${escapeHtml(message)}</p>`);

/** Not a redirect: after a link on another site a redirect would not send the new SameSite cookie. */
export const openedPage = (projectId: string): string =>
  page(
    'Mailbox',
    back(projectId),
    `<meta http-equiv="refresh" content="0;url=${mailboxPath(projectId)}">`,
  );

export const signInPage = (projectId: string, message: string): string =>
  page(
    'Mailbox',
    `<p>${escapeHtml(message)}</p>
<form action="${mailboxPath(projectId)}/session" data-mailbox="${mailboxPath(projectId)}">
<p><label for="token">Access token of the project's owner, or the operator's</label>
<input id="token" name="token" type="password" autocomplete="off" required></p>
<p><button>Open the mailbox</button></p>
<p role="alert"></p>
</form>
<script>${script}</script>`,
  );
