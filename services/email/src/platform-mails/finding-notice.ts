import { type FindingKind, oneLine, type Payload } from '@backlot/contract';
import { greet, type MailContent } from './templates.ts';

type Told = Omit<Payload<'finding.told'>, 'ownerId'> & { name: string | null };

interface Words {
  subject: (project: string) => string;
  what: (told: Told) => string;
  todo: (told: Told) => string;
}

const lookFor = (told: Told) =>
  told.signs.length > 0 ? ` What stands out: ${told.signs.join(', ')}.` : '';

const limitsHint =
  'If it is not meant, set narrower rules and limits, or pause the project until you have looked.';

const words: Readonly<Record<FindingKind, Words>> = {
  exposure: {
    subject: (project) => `Strangers read personal data in ${project}`,
    what: ({ subject, signs }) =>
      `people without an account read records of the collection "${oneLine(subject)}", and fields of it look like: ${signs.join(', ')}`,
    todo: ({ projectId }) =>
      `If that is not meant, hide these fields or let only users read. GET /api/platform/projects/${projectId}/exposure shows who reads what, and the rules that would show less; the console has it under Exposure.`,
  },
  mailWords: {
    subject: (project) => `Mails of ${project} look like phishing`,
    what: (told) => `${told.calls} of its mails have signs of phishing.${lookFor(told)}`,
    todo: () =>
      'If these mails are yours, word them so that nobody takes them for somebody else’s. If they are not, revoke the keys that send them, and let visitors send only templates (the setting mailContent).',
  },
  fileNames: {
    subject: (project) => `Files of ${project} look harmful`,
    what: (told) => `${told.calls} files were uploaded whose names look harmful.${lookFor(told)}`,
    todo: () =>
      'Look at the newest files, delete what is not meant, and let only users upload, with the types that your app needs.',
  },
  junkSignUps: {
    subject: (project) => `Accounts of ${project} look like junk`,
    what: (told) => `${told.calls} new accounts look like junk.${lookFor(told)}`,
    todo: () =>
      'If they are not meant, limit who may sign up (the setting signUp), and block or delete these accounts.',
  },
  mails: {
    subject: (project) => `${project} sends many more mails than usual`,
    what: ({ calls }) => `it has sent ${calls} mails within two hours, many more than usual`,
    todo: () => `${limitsHint} Revoke keys that somebody else may have.`,
  },
  signUps: {
    subject: (project) => `${project} has many more sign-ups than usual`,
    what: ({ calls }) => `${calls} accounts were made within two hours, many more than usual`,
    todo: () => `${limitsHint} The setting signUp says who may make an account.`,
  },
  uploads: {
    subject: (project) => `${project} takes many more uploads than usual`,
    what: ({ calls }) => `${calls} files were uploaded within two hours, many more than usual`,
    todo: () => limitsHint,
  },
  refusedWrites: {
    subject: (project) => `${project} refuses many records`,
    what: ({ calls }) =>
      `${calls} writes of records were refused within two hours, many more than usual`,
    todo: () =>
      'Either a program of yours repeats what can not succeed, or somebody tries your app out: the log of calls says which.',
  },
};

/** What the operator has found in a project, for its owner. */
export const findingContent = (told: Told): MailContent => {
  const { subject, what, todo } = words[told.kind];
  const project = oneLine(told.projectName);
  return {
    subject: subject(project),
    greeting: greet(told.name),
    paragraphs: [
      `the operator of this platform asks you to look at your project ${project} (${told.projectId}): since ${told.since.slice(0, 10)}, ${what(told).replace(/\.$/, '')}.`,
      todo(told),
      'Where it goes on, the operator may suspend the part of the project that it is about. You would read the reason in the console.',
    ],
    footer: 'You get this mail because you own this project on Backlot.',
  };
};
