import { accessPresets } from 'virtual:contract';
import { presetSentence } from '../../../parts/words/access-words.ts';
import { type Control, type SettingName, type SettingText, yesNo } from './control.ts';

const credits: Control = { kind: 'number', unit: 'credits' };

/** docs/owners.md, "Settings" and "Budgets", for people; the type fails where one is missing. */
export const settingTexts: Readonly<Record<SettingName, SettingText>> = {
  signUp: {
    label: 'Who may sign up',
    says: 'Who makes an account in your app by themselves. Accounts that you or a key make are never refused.',
    unset: 'anyone',
    protects: 'Keeps an app for a team or a company to those whom you know.',
    control: { kind: 'sign-up' },
  },
  guests: {
    label: 'Guests',
    says: 'Whether visitors begin a session without an address, and become users later, with all that is theirs.',
    unset: 'yes, where anyone may sign up and nobody has to verify',
    protects: 'Keeps those out who have no account.',
    control: yesNo('Yes', 'No'),
  },
  codes: {
    label: 'Sign-in by a code',
    says: 'Whether users sign in, and up, with six digits that are mailed to them, without a password.',
    unset: 'yes',
    protects: 'Keeps the ways into your app to those that you want.',
    control: yesNo('Yes', 'No'),
  },
  mustVerify: {
    label: 'Verified addresses only',
    says: 'Users do nothing but with their account until they have followed the link that was mailed to them.',
    unset: 'no',
    protects: 'Keeps those out who sign up with addresses that are not theirs.',
    control: yesNo('Yes', 'No'),
  },
  mustUse2fa: {
    label: 'Roles that take two factors',
    says: 'Users of these roles, one a line, do nothing but set up an authenticator app or a passkey until they have used one.',
    unset: 'none',
    protects: 'A password that somebody has guessed or fished opens no account of your staff.',
    control: { kind: 'lines', placeholder: 'staff' },
  },
  publicProfiles: {
    label: 'Users see each other',
    says: 'Name, picture and public profile of a user are shown to all of the project, or to those alone with whom they share a group.',
    unset: 'to all',
    protects: 'Keeps members of one team from learning who else uses your app.',
    control: yesNo('To all', 'Within groups alone'),
  },
  accountPageUrl: {
    label: 'Your page for account links',
    says: 'Where the links of account mails lead: a page of your app in place of the platform’s.',
    unset: 'the page /account of this installation',
    protects:
      'It has to be of an origin that you have proven, so that nobody else can take the links.',
    control: { kind: 'text', placeholder: 'https://example.org/account' },
  },
  defaultAccess: {
    label: 'Access of new collections',
    says: 'Who may read and change what is in a collection of which nothing else is said.',
    unset: 'shared: everybody reads, each changes their own',
    protects: 'With private, what a new feature stores is nobody else’s to read by mistake.',
    control: {
      kind: 'choice',
      choices: accessPresets.map((name) => [name, `${name}: ${presetSentence(name)}`]),
    },
  },
  createCollections: {
    label: 'Collections make themselves',
    says: 'Users and visitors create a collection by writing into one that is not there.',
    unset: 'yes',
    protects:
      'Set it to no once your app is finished: nobody can fill your project with collections of their own.',
    control: yesNo('Yes', 'No'),
  },
  channels: {
    label: 'Channels',
    says: 'Who hears and who says what in which channels; channels that are not named here are closed.',
    unset: 'none but those of groups',
    protects: 'Keeps strangers from listening, and from speaking to your users.',
    control: {
      kind: 'json',
      placeholder: '{"room:*": {"listen": ["users"], "broadcast": ["users"]}}',
    },
  },
  storage: {
    label: 'What may be uploaded',
    says: 'Kinds of files, the largest one, how much one user may keep in all, and who of a group uploads files for it. It holds for all but you and your keys.',
    unset: 'all kinds, no limit for one user, any member of a group',
    protects: 'Keeps your storage from being used as somebody’s free disk.',
    control: { kind: 'storage' },
  },
  maxUploadBytes: {
    label: 'Largest upload',
    says: 'The largest file that anybody may upload, you and your keys too.',
    unset: '50 MB',
    protects: 'Bounds what one call can store.',
    control: { kind: 'bytes' },
  },
  emailRecipients: {
    label: 'Whom mails may go to',
    says: 'To anyone, or to known addresses alone: those of your users, yours, and those that you allow below.',
    unset: 'known, where a real mailer sends',
    protects: 'Keeps your app from being used to send spam in your name.',
    control: {
      kind: 'choice',
      choices: [
        ['known', 'Known addresses'],
        ['anyone', 'Anyone'],
      ],
    },
  },
  emailAllowList: {
    label: 'Other known addresses',
    says: 'Addresses that count as known besides, one a line; at most 1,000.',
    unset: 'none',
    protects: 'Lets an app write to a few outsiders without opening it to all.',
    control: { kind: 'lines', placeholder: 'press@example.org' },
  },
  mailContent: {
    label: 'Who words mails',
    says: 'Whether calls of visitors send words of their own, or name a mail template of yours.',
    unset: 'templates alone, once there is one',
    protects: 'With templates nobody can have your app send what they like.',
    control: {
      kind: 'choice',
      choices: [
        ['templates', 'Templates alone'],
        ['anything', 'Words of the caller too'],
      ],
    },
  },
  payments: {
    label: 'What a checkout may cost',
    says: 'Whether a checkout takes an amount that the page names, or products of yours at their prices alone.',
    unset: 'any amount',
    protects: 'With products alone no buyer can name a price.',
    control: {
      kind: 'choice',
      choices: [
        ['any', 'Any amount'],
        ['products-only', 'Products alone'],
      ],
    },
  },
  productEditors: {
    label: 'Who sets products',
    says: 'Roles whose users create products and set their prices, one a line.',
    unset: 'nobody but you and your keys',
    protects: 'Prices change by those alone whom you have named.',
    control: { kind: 'lines', placeholder: 'role:staff' },
  },
  allowedOrigins: {
    label: 'Origins of your app',
    says: 'Where a checkout may return to, and where links in mails may lead, one a line. Pages of every origin may call the API.',
    unset: 'none: checkouts return anywhere',
    protects: 'Keeps a payment or a mail from leading your users to somebody else’s page.',
    control: { kind: 'lines', placeholder: 'https://example.org' },
  },
  aiModel: {
    label: 'Model',
    says: 'The language model that answers calls of /ai.',
    unset: 'the installation’s',
    protects: 'What an answer costs follows from the model.',
    control: { kind: 'text', placeholder: 'gpt-4.1-mini' },
  },
  creditsPerDay: {
    label: 'Most credits a day',
    says: 'Past it, calls that cost something are refused until the next day, whoever calls.',
    unset: 'no cap',
    protects: 'Bounds what a mistake, or an attack, can cost you in a day.',
    control: credits,
  },
  creditsPerMonth: {
    label: 'Most credits a month',
    says: 'The same for a month.',
    unset: 'no cap',
    protects: 'Bounds what this project can cost you in a month.',
    control: credits,
  },
  visitorCreditsPerDay: {
    label: 'Credits of all visitors a day',
    says: 'What all visitors without a verified account may spend together in a day; one of them has a fifth of it.',
    unset: 'no cap beyond that of each visitor',
    protects: 'Leaves something for your users when strangers take all that they can.',
    control: credits,
  },
  callers: {
    label: 'Who may make calls that cost',
    says: 'Who may call AI, upload files and send mails. You and your keys always may.',
    unset: 'anyone',
    protects: 'Keeps strangers from spending your credits.',
    control: { kind: 'callers' },
  },
  aiPerVisitorPerDay: {
    label: 'AI for one visitor a day',
    says: 'Credits that one visitor may spend on AI in a day; 0 is none.',
    unset: 'the installation’s default',
    protects: 'No single visitor can empty your credits.',
    control: credits,
  },
  uploadsPerVisitorPerDay: {
    label: 'Uploads of one visitor a day',
    says: 'Credits that one visitor may spend on uploads in a day; 0 is none.',
    unset: 'the installation’s default',
    protects: 'No single visitor can fill your storage.',
    control: credits,
  },
  emailPerVisitorPerDay: {
    label: 'Mails of one visitor a day',
    says: 'Recipients to whom one visitor may write in a day; 0 is none.',
    unset: 'the installation’s default',
    protects: 'No single visitor can send mails without end in your name.',
    control: { kind: 'number', unit: 'recipients' },
  },
};
