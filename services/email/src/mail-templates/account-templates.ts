import {
  type AccountTemplateName,
  emailRoutes,
  type MailFields,
  type NoticeKind,
  type Payload,
} from '@backlot/contract';

export const isAccountTemplate = (name: string): name is AccountTemplateName =>
  emailRoutes.accountTemplateNames.some((known) => known === name);

type Kind = Payload<'mail.requested'>['template'];
export const accountTemplates: Readonly<Record<Kind, AccountTemplateName>> = {
  'verify-email': 'account.verify',
  'reset-password': 'account.reset',
  'group-invite': 'account.invite',
  'confirm-new-email': 'account.change-email',
  'allow-email-change': 'account.allow-change',
  'sign-in-code': 'account.code',
};

const everywhere: MailFields = { app: 'string', name: { type: 'string', optional: true } };
const always: MailFields = {
  ...everywhere,
  link: 'url',
  until: 'string',
};

const notice: MailFields = {
  ...everywhere,
  at: 'string',
  device: { type: 'string', optional: true },
  network: { type: 'string', optional: true },
  detail: { type: 'string', optional: true },
};

/** What the words of an account mail can say; `link` they have to, where there is one. */
export const accountFields: Readonly<Record<AccountTemplateName, MailFields>> = {
  'account.verify': always,
  'account.reset': always,
  'account.invite': { ...always, team: 'string', inviter: 'string' },
  'account.change-email': always,
  'account.allow-change': { ...always, newEmail: 'string' },
  'account.new-device': notice,
  'account.password-changed': notice,
  'account.factor-added': notice,
  'account.factor-removed': notice,
  'account.passkey-added': notice,
  'account.passkey-removed': notice,
  'account.identity-linked': notice,
  'account.identity-removed': notice,
  'account.code': { ...always, code: 'string' },
};

export const noticeTemplate = (kind: NoticeKind) => `account.${kind}` as const;

/** For a preview. */
export const accountSamples = (app: string, link: string): Record<string, string> => ({
  app,
  name: 'Ada Lovelace',
  link,
  until: '2026-01-31 at 09:30 UTC',
  team: 'Red team',
  inviter: 'Bob Jones',
  newEmail: 'ada@example.com',
  at: '2026-01-31 at 09:00 UTC',
  device: 'Firefox on Windows',
  network: '192.0.2.0/24',
  detail: 'Ada’s phone',
  code: '123456',
});
