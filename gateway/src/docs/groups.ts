/** How the reference is divided: what a path belongs to, in the order in which the groups are shown. */
export interface Group {
  /** In addresses: `/docs/api/<name>`. */
  name: string;
  title: string;
  /** `runtime`: what apps call; `platform`: what owners call. */
  plane: 'runtime' | 'platform';
  summary: string;
  paths: RegExp;
}

const group = (
  plane: Group['plane'],
  name: string,
  title: string,
  paths: RegExp,
  summary: string,
): Group => ({ plane, name, title, paths, summary });

/** The first that fits; the last of each plane takes all that is left. */
export const groups: readonly Group[] = [
  group(
    'runtime',
    'accounts',
    'Accounts',
    /^\/(auth|users)\b/,
    'Sign-up, sign-in, sessions, and what users see of each other.',
  ),
  group(
    'runtime',
    'groups',
    'Groups',
    /^\/groups\b/,
    'Teams of users: members, roles and invitations.',
  ),
  group(
    'runtime',
    'records',
    'Records',
    /^\/db\b/,
    'JSON objects in collections: written, listed, counted, shared, brought back.',
  ),
  group(
    'runtime',
    'live',
    'Live',
    /^\/events\b/,
    'Changes as they happen, messages in channels, and who is there.',
  ),
  group(
    'runtime',
    'files',
    'Files',
    /^\/storage\b/,
    'Uploads, public and private files, images in other sizes.',
  ),
  group('runtime', 'ai', 'AI', /^\/ai\b/, 'Text and JSON by a language model.'),
  group(
    'runtime',
    'mail',
    'E-mail',
    /^\/(email|mailbox)\b/,
    'Mail to people, and the mailbox where none is sent.',
  ),
  group(
    'runtime',
    'payments',
    'Payments',
    /^\/(payments|products)\b/,
    'Products, hosted checkout, payments.',
  ),
  group('runtime', 'more', 'More', /^/, 'What belongs to no other group.'),
  group(
    'platform',
    'collections',
    'Collections',
    /\/(collections|shape|access-check|restore-points|trash|undo|deleted-collections|rules)\b/,
    'Who may do what, schemas, limits, restore points and undo.',
  ),
  group(
    'platform',
    'users',
    'Users and roles',
    /\/(users|roles)\b/,
    'The users of a project, and what roles may.',
  ),
  group(
    'platform',
    'keys',
    'Keys and origins',
    /\/(keys|origins|secrets)\b/,
    'Secret keys, the addresses of an app, keys of other providers.',
  ),
  group(
    'platform',
    'configuration',
    'Config and previews',
    /\/(config|preview|limits|prompts)\b/,
    'Everything that an owner sets, as one file; limits, prompts, and copies to try changes in.',
  ),
  group(
    'platform',
    'deliveries',
    'Mails, payments and files',
    /\/(emails|mail-templates|payments|on-paid|files)\b/,
    'What was sent, paid and stored, and what follows a payment.',
  ),
  group(
    'platform',
    'webhooks',
    'Webhooks',
    /\/webhooks\b/,
    'What happens in an app, sent to an address of yours.',
  ),
  group(
    'platform',
    'credits',
    'Credits and usage',
    /^\/(credits|prices|owners)\b|\/(usage|requests)\b/,
    'What calls cost, who spends, and what is left.',
  ),
  group(
    'platform',
    'projects',
    'Projects',
    /^/,
    'Made, changed, copied, deleted and brought back.',
  ),
];

/** @param path relative to the base address of its plane */
export const groupFor = (plane: Group['plane'], path: string): Group => {
  const found = groups.find((one) => one.plane === plane && one.paths.test(path));
  if (!found) throw new Error(`No group takes ${path}.`);
  return found;
};
