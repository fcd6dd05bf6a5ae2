import type { BudgetKind } from '@backlot/contract';
import { oneLine, showName } from '@backlot/contract';
import { escapeHtml } from '@backlot/http';

/** The content of a platform mail; every value is plain text. */
export interface MailContent {
  subject: string;
  greeting: string;
  paragraphs: readonly string[];
  action?: { label: string; url: string };
  footer: string;
}

const font = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
/** For programs that show mails in dark; the others go by the attributes. */
const darkStyle = `@media (prefers-color-scheme: dark) {
.page { background: #111827 !important; color: #f3f4f6 !important; }
.card { background: #1f2937 !important; }
.small { color: #d1d5db !important; }
.link { color: #93c5fd !important; }
}`;
const paragraph = (text: string) =>
  `<p style="margin:0 0 16px;font-size:16px;line-height:24px">${escapeHtml(text)}</p>`;
const button = ({ label, url }: { label: string; url: string }) => `
<p style="margin:24px 0"><a href="${escapeHtml(url)}" style="display:inline-block;padding:12px 24px;border-radius:6px;background:#1d4ed8;color:#ffffff;font-size:16px;font-weight:600;text-decoration:none">${escapeHtml(label)}</a></p>
<p class="small" style="margin:0 0 16px;font-size:14px;line-height:20px;color:#4b5563">Or open this address:<br><a href="${escapeHtml(url)}" class="link" style="color:#1d4ed8;word-break:break-all">${escapeHtml(url)}</a></p>`;

const renderHtml = ({
  subject,
  greeting,
  paragraphs,
  action,
  footer,
}: MailContent): string => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>${escapeHtml(subject)}</title><style>${darkStyle}</style></head>
<body class="page" style="margin:0;padding:32px 16px;background:#f3f4f6;color:#111827;${font}">
<div class="card" style="max-width:560px;margin:0 auto;padding:32px;border-radius:12px;background:#ffffff">
${paragraph(greeting)}${paragraphs.map(paragraph).join('')}${action ? button(action) : ''}
</div>
<p class="small" style="max-width:560px;margin:16px auto 0;font-size:13px;line-height:20px;color:#4b5563;text-align:center">${escapeHtml(footer)}</p>
</body>
</html>
`;

const renderText = ({ greeting, paragraphs, action, footer }: MailContent): string =>
  [
    greeting,
    ...paragraphs,
    ...(action ? [`${action.label}:\n${action.url}`] : []),
    `-- \n${footer}\n`,
  ].join('\n\n');

export const render = (content: MailContent) => {
  const subject = oneLine(content.subject);
  const greeting = oneLine(content.greeting);
  const clean = { ...content, subject, greeting, footer: oneLine(content.footer) };
  return { subject, html: renderHtml(clean), text: renderText(clean) };
};

/** Anybody can sign up with any name and address. */
export const greet = (name: string | null) => {
  const shown = showName(name, '');
  return shown === '' ? 'Hello,' : `Hello ${shown},`;
};
export const until = (expiresAt: string) =>
  `${new Date(expiresAt).toISOString().slice(0, 16).replace('T', ' at ')} UTC`;

export interface AccountLink {
  projectName: string;
  name: string | null;
  /** Of an invitation. */
  group?: { name: string; invitedBy: string | null } | undefined;
  /** Of a change of the address, in the mail to the present one. */
  newEmail?: string | undefined;
  /** Of a mail with one: six digits. */
  code?: string | undefined;
  url: string;
  expiresAt: string;
}

export const verifyEmailContent = ({
  projectName,
  name,
  url,
  expiresAt,
}: AccountLink): MailContent => ({
  subject: `Confirm your e-mail address for ${projectName}`,
  greeting: greet(name),
  paragraphs: [
    `please confirm that this is your e-mail address for ${oneLine(projectName)}.`,
    `The link can be used once, until ${until(expiresAt)}.`,
  ],
  action: { label: 'Confirm e-mail address', url },
  footer: `You get this mail because somebody signed up at ${projectName} with your address. If it was not you, do nothing.`,
});

export const resetPasswordContent = ({
  projectName,
  name,
  url,
  expiresAt,
}: AccountLink): MailContent => ({
  subject: `Reset your password for ${projectName}`,
  greeting: greet(name),
  paragraphs: [
    `somebody, we hope you, asked for a new password for your account at ${oneLine(projectName)}.`,
    `The link can be used once, until ${until(expiresAt)}.`,
  ],
  action: { label: 'Choose a new password', url },
  footer: `If you did not ask for it, do nothing: your password for ${projectName} stays as it is.`,
});

export const confirmNewEmailContent = ({
  projectName,
  name,
  url,
  expiresAt,
}: AccountLink): MailContent => ({
  subject: `Confirm your new e-mail address for ${projectName}`,
  greeting: greet(name),
  paragraphs: [
    `please confirm that this is to be the e-mail address of your account at ${oneLine(projectName)}.`,
    `The link can be used once, until ${until(expiresAt)}. If your present address got a link too, the address changes once you have followed both.`,
  ],
  action: { label: 'Confirm new address', url },
  footer: `You get this mail because somebody with an account at ${projectName} entered your address. If it was not you, do nothing.`,
});

export const allowEmailChangeContent = ({
  projectName,
  name,
  newEmail,
  url,
  expiresAt,
}: AccountLink): MailContent => ({
  subject: `Your e-mail address for ${projectName} is to change`,
  greeting: greet(name),
  paragraphs: [
    `somebody, we hope you, asked to change the e-mail address of your account at ${oneLine(projectName)} to ${oneLine(newEmail ?? 'another')}.`,
    `It changes once this link and the one in the mail to the new address have been followed. The link can be used once, until ${until(expiresAt)}.`,
  ],
  action: { label: 'Allow the change', url },
  footer: `If you did not ask for it, do not follow the link: your address for ${projectName} stays as it is. Choose a new password, which ends the request too.`,
});

export const signInCodeContent = ({
  projectName,
  name,
  code = '',
  url,
  expiresAt,
}: AccountLink): MailContent => ({
  subject: `Your code to sign in at ${projectName}`,
  greeting: greet(name),
  paragraphs: [
    `your code to sign in at ${oneLine(projectName)} is ${code}.`,
    `It can be used once, until ${until(expiresAt)}, where you asked for it. Nobody of ${oneLine(projectName)} will ever ask you for it.`,
  ],
  action: { label: 'Sign in without the code', url },
  footer: `You get this mail because somebody entered your address at ${projectName}. If it was not you, do nothing.`,
});

export const groupInviteContent = ({
  projectName,
  name,
  group,
  url,
  expiresAt,
}: AccountLink): MailContent => {
  const called = showName(group?.name, '');
  const team = called === '' ? 'a group' : `a group that is called “${called}”`;
  const inviter = showName(group?.invitedBy, 'somebody');
  return {
    subject: `You are invited to join a group at ${projectName}`,
    greeting: greet(name),
    paragraphs: [
      `${inviter} invites you to join ${team} at ${oneLine(projectName)}.`,
      `The link can be used once, until ${until(expiresAt)}, with an account there or a new one.`,
    ],
    action: { label: 'Join', url },
    footer: `You get this mail because somebody at ${projectName} entered your address. If you do not know why, do nothing.`,
  };
};

export const creditsContent = (credits: {
  name: string | null;
  percent: number;
  creditsLeft: number;
}): MailContent => ({
  subject:
    credits.percent === 100
      ? 'Your credits of this month are used up'
      : `${credits.percent} % of your credits of this month are used`,
  greeting: greet(credits.name),
  paragraphs: [
    `your projects have used ${credits.percent} % of the credits granted for this month; ${credits.creditsLeft} are left.`,
    credits.percent === 100
      ? 'Calls that cost credits (AI, e-mail, uploads) are refused until there are new ones. Everything else goes on.'
      : 'When they are used up, calls that cost credits (AI, e-mail, uploads) are refused. Everything else goes on.',
  ],
  footer: 'You get this mail because you own projects on Backlot.',
});

export const budgetContent = (budget: {
  name: string | null;
  projectName: string;
  projectId: string;
  kind: BudgetKind;
  address: string;
  route: string;
}): MailContent => {
  const project = `${oneLine(budget.projectName)} (${budget.projectId})`;
  const caller = `the network address ${oneLine(budget.address)} with ${oneLine(budget.route)}`;
  const where = `PATCH /api/platform/projects/${budget.projectId} {"settings": {…}}`;
  const isOfVisitors = budget.kind === 'visitors';
  return {
    subject: isOfVisitors
      ? `Visitors of ${budget.projectName} have used their credits for today`
      : `${budget.projectName} has used the credits that you allow it`,
    greeting: greet(budget.name),
    paragraphs: isOfVisitors
      ? [
          `calls of visitors to your project ${project} are refused until midnight UTC: they have used what one of them, or all of them together, may take of your credits a day. The first was ${caller}.`,
          'Nothing else is touched: you, your keys, users with an own budget left and your other projects go on.',
          `If it was misuse, say who may make such calls: "callers": {"ai": ["users"], "uploads": ["users"], "email": ["users"]}. If it was not, give more: "aiPerVisitorPerDay", "uploadsPerVisitorPerDay", "emailPerVisitorPerDay" for one, "visitorCreditsPerDay" for all. Both are settings of the project: ${where}.`,
        ]
      : [
          `calls that cost credits are refused in your project ${project}: it has used what its settings "creditsPerDay" and "creditsPerMonth" allow. The first was ${caller}.`,
          'Everything else of it goes on, and so do your other projects.',
          `You can change both: ${where}.`,
        ],
    footer: 'You get this mail at most once a day, because you own this project on Backlot.',
  };
};

const actorInWords = (actor: string): string => {
  if (actor === 'visitor') return 'visitors without an account';
  return `the ${oneLine(actor).replace(':', ' ')}`;
};

const endedCollection = (project: string, collection: string, keptUntil: string | undefined) =>
  keptUntil === undefined
    ? 'No undo brings these back: what is left of them is in an archive or export that you have made before.'
    : `If that was not meant, POST ${project}/collections/${oneLine(collection)}/restore {} brings it back until ${keptUntil}; so does the trash of your project.`;

export const deletionsContent = (deleted: {
  name: string | null;
  projectName: string;
  projectId: string;
  actor: string;
  count: number;
  since: string;
  /** Which was deleted or emptied. */
  collection?: string | undefined;
  keptUntil?: string | undefined;
}): MailContent => {
  const project = `/api/platform/projects/${deleted.projectId}`;
  const undo = `POST ${project}/undo`;
  const which = `"since": "${deleted.since}", "actor": "${oneLine(deleted.actor)}"`;
  return {
    subject: `Many records of ${deleted.projectName} were deleted`,
    greeting: greet(deleted.name),
    paragraphs: [
      `in your project ${oneLine(deleted.projectName)} (${deleted.projectId}) ${deleted.count} records were deleted ${deleted.collection === undefined ? 'within a minute' : `with the collection ${oneLine(deleted.collection)}, which was deleted or emptied`}, by ${actorInWords(deleted.actor)}.`,
      deleted.collection !== undefined
        ? endedCollection(project, deleted.collection, deleted.keptUntil)
        : `If that was not meant, you can have them back: ${undo} {${which}, "dryRun": true} says what would come back, and the same without "dryRun" brings it back. GET ${project}/trash lists what was deleted.`,
      'A key is revoked on the page of your project; a user can be blocked there.',
    ],
    footer: 'You get this mail at most once a day, because you own this project on Backlot.',
  };
};

export const sendingStoppedContent = (stop: {
  name: string | null;
  projectName: string;
  reason: string;
  isOfVisitors: boolean;
}): MailContent => ({
  subject: stop.isOfVisitors
    ? `Visitors of ${stop.projectName} may not mail others at the moment`
    : `${stop.projectName} may not send mail at the moment`,
  greeting: greet(stop.name),
  paragraphs: stop.isOfVisitors
    ? [
        `visitors of the project ${oneLine(stop.projectName)} were stopped from mailing addresses that they choose: ${stop.reason}. Your own mails, those to the caller's own address and those of accounts go on.`,
        'If it was misuse, leave them templates that go to themselves or to you, and the setting "mailContent": "templates"; then ask the operator to let them send again.',
      ]
    : [
        `the project ${oneLine(stop.projectName)} was stopped from sending mail: ${stop.reason}.`,
        'Remove addresses that bounce or did not ask for mail, then ask the operator to let it send again.',
      ],
  footer: 'You get this mail because you own this project on Backlot.',
});
