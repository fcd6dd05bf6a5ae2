import { type Access, type Entry, wordWords } from './rule-words.ts';

export type { Access };

/** The presets as docs/api.md, "Access", has them. */
export const presetWords: Readonly<Record<Extract<Access, string>, string>> = {
  shared: 'Anyone reads and creates; whoever made a record changes it.',
  'public-read': 'Anyone reads; users create; whoever made a record changes it.',
  members: 'Users read and create; whoever made a record changes it.',
  private: 'Users create; whoever made a record reads and changes it.',
  'append-only': 'Anyone creates; nobody but you reads.',
  locked: 'Nobody but you and your keys.',
  catalog: 'Anyone reads; the role staff writes.',
  inbox: 'Anyone creates; the role staff reads.',
  team: 'Members of the record’s group read, create and change.',
};

/** Of a preset by its name; the name itself where nothing is said of it. */
export const presetSentence = (name: string): string =>
  presetWords[name as keyof typeof presetWords] ?? name;

const entryWords = (entry: Entry) =>
  typeof entry === 'string'
    ? wordWords(entry)
    : `${entry.to.map(wordWords).join(', ')} under a condition`;

const listWords = (entries: readonly Entry[] | undefined) =>
  entries && entries.length > 0 ? entries.map(entryWords).join(', ') : 'nobody';

/** Who may do what, as one line. */
export const accessWords = (access: Access): string => {
  if (typeof access === 'string') return presetWords[access];
  const { read, create, change, delete: remove, fields } = access;
  const hidden = Object.keys(fields ?? {}).length;
  const parts = [
    `Read: ${listWords(read)}`,
    `create: ${listWords(create)}`,
    `change: ${listWords(change)}`,
    ...(remove ? [`delete: ${listWords(remove)}`] : []),
    ...(hidden > 0 ? [`rules of their own for ${hidden} field${hidden === 1 ? '' : 's'}`] : []),
  ];
  return `${parts.join('; ')}.`;
};
