import { type NoticeKind, oneLine, type Payload } from '@backlot/contract';
import { greet, type MailContent, until } from './templates.ts';

export interface AccountNotice
  extends Pick<
    Payload<'notice.requested'>,
    'kind' | 'name' | 'detail' | 'device' | 'network' | 'at'
  > {
  projectName: string;
}

/** Users name their passkeys and devices as they like. */
const quote = (detail: string | null) =>
  detail === null ? '' : ` (${oneLine(detail).slice(0, 100)})`;

const happened: Record<
  NoticeKind,
  { subject: string; sentence: (detail: string | null) => string }
> = {
  'new-device': {
    subject: 'New sign-in',
    sentence: () =>
      'somebody, we hope you, signed in to your account from a device or place from which you have not before',
  },
  'password-changed': {
    subject: 'Your password was changed',
    sentence: () => 'the password of your account was changed',
  },
  'factor-added': {
    subject: 'A second factor was added',
    sentence: (detail) => `a second factor${quote(detail)} was added to your account`,
  },
  'factor-removed': {
    subject: 'A second factor was removed',
    sentence: (detail) => `a second factor${quote(detail)} was removed from your account`,
  },
  'passkey-added': {
    subject: 'A passkey was added',
    sentence: (detail) => `a passkey${quote(detail)} was added to your account`,
  },
  'passkey-removed': {
    subject: 'A passkey was removed',
    sentence: (detail) => `a passkey${quote(detail)} was removed from your account`,
  },
  'identity-linked': {
    subject: 'Another way to sign in was added',
    sentence: (detail) => `your account can now be signed in to by another service${quote(detail)}`,
  },
  'identity-removed': {
    subject: 'A way to sign in was removed',
    sentence: (detail) =>
      `your account can no longer be signed in to by another service${quote(detail)}`,
  },
};

const from = ({ device, network }: Pick<AccountNotice, 'device' | 'network'>) =>
  `${oneLine(device ?? 'an unknown device')}, network ${network ?? 'unknown'}`;

export const noticeContent = (notice: AccountNotice): MailContent => {
  const { subject, sentence } = happened[notice.kind];
  const app = oneLine(notice.projectName);
  return {
    subject: `${subject}: ${app}`,
    greeting: greet(notice.name),
    paragraphs: [
      `${sentence(notice.detail)} at ${app}.`,
      `When and where: ${until(notice.at)}, ${from(notice)}.`,
      'If it was you, there is nothing to do. If it was not, choose a new password there by "forgot password", which ends all sessions, and look at what can sign in to your account.',
    ],
    footer: `You get this mail because you have an account at ${app}.`,
  };
};
