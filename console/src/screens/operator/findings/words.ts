import type { Item } from '../../../api/operation-types.ts';
import { formatCount } from '../../../parts/words/numbers.ts';

type Finding = Item<'listFindings'>;

const kinds: Readonly<Record<Finding['kind'], string>> = {
  exposure: 'Strangers read personal data',
  mailWords: 'Mails look like phishing',
  fileNames: 'File names look harmful',
  junkSignUps: 'Accounts look like junk',
  mails: 'Burst of mails',
  signUps: 'Burst of sign-ups',
  uploads: 'Burst of uploads',
  refusedWrites: 'Burst of refused records',
};

const signs: Readonly<Record<string, string>> = {
  email: 'e-mail addresses',
  phone: 'phone numbers',
  card: 'card numbers',
  secret: 'passwords or keys',
  brand: 'names a brand that is often imitated',
  credentials: 'asks for account data',
  pressure: 'threatens or hurries',
  prize: 'promises a prize or money',
  strangeLink: 'a link that hides its host',
  otherLink: 'a link that leads elsewhere than it shows',
  mixedScripts: 'words of mixed scripts',
  signInPage: 'a page named like a sign-in',
  doubleExtension: 'a program named like a document',
  script: 'a script of Windows',
  disposableAddress: 'throw-away addresses',
  linkInName: 'links in names',
  oneMailbox: 'many accounts of one mailbox',
};

export const signWords = (sign: string): string => signs[sign] ?? sign;

export const countedAs: Readonly<Record<Finding['kind'], string>> = {
  exposure: 'Reads by strangers',
  mailWords: 'Mails',
  fileNames: 'Files',
  junkSignUps: 'Accounts',
  mails: 'Mails, in two hours',
  signUps: 'Sign-ups, in two hours',
  uploads: 'Uploads, in two hours',
  refusedWrites: 'Refused, in two hours',
};

export const exampleWords = (kind: Finding['kind']): string =>
  kind === 'exposure' ? 'Fields' : 'Last ids';

/** What, where and how often, on a line. */
export const summarize = ({ kind, subject, calls }: Finding): string =>
  `${kinds[kind]}${subject === null ? '' : ` of ${subject}`} (${formatCount(calls)})`;

export const kindWords = ({ kind }: Finding): string => kinds[kind];
