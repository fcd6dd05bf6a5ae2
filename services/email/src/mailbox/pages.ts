import { emailRoutes, type FileDescription, platformProject } from '@backlot/contract';
import { headLinks, markHref, scripts } from '@backlot/design';
import { escapeHtml, type Page } from '@backlot/http';
import { displayFrom, type MailRow, recipientsIn } from '../mails/mail.ts';

export const pagePolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "img-src 'self'",
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

/** @param width of the page: `narrow` for a form, `wide` for lists */
const page = (
  title: string,
  body: string,
  { width = 'wide', head = '' }: { width?: 'narrow' | 'wide'; head?: string } = {},
): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
${headLinks}${head}
</head>
<body>
<main class="page ${width}">
<p class="row quiet-text"><img class="mark" src="${markHref}" alt="" width="24" height="24"> Backlot</p>
<h1>${escapeHtml(title)}</h1>
${body}
</main>
</body>
</html>
`;

/** Without it times are in UTC. */
const localTimes = `<script type="module" src="${scripts.times.href}"></script>`;

const mailboxPath = (projectId: string) =>
  `${emailRoutes.mailboxBase}${encodeURIComponent(projectId)}`;
const time = (at: Date) =>
  `<time datetime="${at.toISOString()}">${at.toISOString().slice(0, 19).replace('T', ' ')} UTC</time>`;
const formatStatus = ({ status, error }: MailRow) =>
  error === null ? status : `${status}: ${error}`;

/** For who may read all of them. */
const ownersMails = `<p class="quiet-text">Mails to owners, such as invitations to a project, lie in the <a href="${mailboxPath(platformProject.id)}">mailbox of ${platformProject.id}</a>.</p>`;

export const listPage = (
  projectId: string,
  { items, nextCursor }: Page<MailRow>,
  opensAll: boolean,
): string => {
  const rows = items.map(
    (mail) =>
      `<tr><td class="wraps"><a href="${mailboxPath(projectId)}/${mail.id}">${escapeHtml(mail.subject)}</a></td><td class="wraps">${escapeHtml([...mail.recipients, ...mail.bcc].join(', '))}</td><td>${escapeHtml(formatStatus(mail))}</td><td>${time(mail.created_at)}</td></tr>`,
  );
  const table = `<table class="table folds">
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
    `<p class="quiet-text">Mails stay here instead of being sent. Reload to see new ones.</p>${rows.length === 0 ? '<div class="empty"><p>There are no mails yet. What the app sends comes here.</p></div>' : table}${older}${opensAll && projectId !== platformProject.id ? ownersMails : ''}`,
    { head: localTimes },
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
    ([name, value]) => `<tr><th scope="row">${name}</th><td class="wraps">${value}</td></tr>`,
  );
  return page(
    mail.subject,
    `${back(projectId)}
<table class="table folds"><tbody>${rows.join('')}</tbody></table>
<iframe class="frame" src="${at}/html" title="Content of the mail" sandbox="allow-popups allow-popups-to-escape-sandbox"></iframe>
<p><a href="${at}/source">Source</a></p>`,
    { head: localTimes },
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
  page('Mailbox', `<p>${escapeHtml(message)}</p>`, { width: 'narrow' });

/** Not a redirect: after a link on another site a redirect would not send the new SameSite cookie. */
export const openedPage = (projectId: string): string =>
  page('Mailbox', back(projectId), {
    head: `<meta http-equiv="refresh" content="0;url=${mailboxPath(projectId)}">`,
  });

export const signInPage = (projectId: string, message: string): string =>
  page(
    'Mailbox',
    `<p>${escapeHtml(message)}</p>
<form class="stack" action="${mailboxPath(projectId)}/session">
<div class="field"><label for="token">Access token of the project's owner, or the operator's</label>
<input id="token" class="code" name="token" type="password" autocomplete="off" required></div>
<button class="primary">Open the mailbox</button>
<p class="problem" role="alert"></p>
</form>`,
    {
      width: 'narrow',
      head: `<script type="module" src="${scripts.mailbox.href}"></script>`,
    },
  );
