import type { Item } from '../../api/operation-types.ts';

export type Access = Item<'listCollections'>['access'];
export type Rules = Exclude<Access, string>;
export type Entry = Rules['read'][number];

const plain: Readonly<Record<string, string>> = {
  anyone: 'anyone',
  users: 'users',
  verified: 'users with a verified address',
  owner: 'whoever made it',
  ownerless: 'anyone, where nobody signed in made it',
  group: 'members of its group',
  shared: 'those it is shared with',
};

/** A word of a list of rules in plain English: "whoever made it". */
export const wordWords = (word: string): string => {
  const [kind, name] = word.split(':');
  if (kind === 'role') return `the role ${name}`;
  return kind === 'group' && name ? `the role ${name} of its group` : (plain[word] ?? word);
};
