import { presetRules } from 'virtual:contract';
import { type Access, type Entry, type Rules, wordWords } from '../../../parts/words/rule-words.ts';

export type { Access, Entry, Rules };
export { wordWords };
export type Preset = Extract<Access, string>;
export type Condition = Exclude<Entry, string>;

export const presets = Object.keys(presetRules) as Preset[];

/** The rules themselves, also where a preset names them. */
export const rulesBehind = (access: Access): Rules =>
  typeof access === 'string' ? presetRules[access] : access;

export const entryWords = (entry: Entry): string =>
  typeof entry === 'string'
    ? wordWords(entry)
    : `${entry.to.map(wordWords).join(' or ')}, where ${JSON.stringify(entry.where)}`;

/** "anyone or the role staff"; "nobody" of an empty list. */
export const listWords = (entries: readonly Entry[]): string =>
  entries.length === 0 ? 'nobody' : entries.map(entryWords).join(' or ');

export type ListName = 'read' | 'create' | 'change' | 'delete' | 'count';

/** Before the words: "Anyone reads". */
export const listTitles: Readonly<Record<ListName, string>> = {
  read: 'Who reads records',
  create: 'Who makes new ones',
  change: 'Who changes them',
  delete: 'Who deletes them',
  count: 'Who adds to their numbers',
};

/** Words of a record that is there, in the order in which they are offered. */
export const recordWords = ['anyone', 'users', 'verified', 'owner', 'ownerless', 'group', 'shared'];
/** A new one is nobody's yet. */
export const newWords = ['anyone', 'users', 'verified', 'group'];

export interface Difference {
  /** "Who reads records", "Who sees price". */
  title: string;
  before: string;
  after: string;
}

const describe = (rules: Rules): Map<string, string> => {
  const { read, create, change, delete: remove, count, fields = {} } = rules;
  const lines = new Map<string, string>([
    [listTitles.read, listWords(read)],
    [listTitles.create, listWords(create)],
    [listTitles.change, listWords(change)],
    [listTitles.delete, listWords(remove ?? change)],
    [listTitles.count, count ? listWords(count) : 'whoever changes them'],
  ]);
  for (const [field, { read: see, create: give, change: set }] of Object.entries(fields)) {
    if (see) lines.set(`Who sees ${field}`, listWords(see));
    if (give) lines.set(`Who gives ${field} in a new record`, listWords(give));
    if (set) lines.set(`Who changes ${field}`, listWords(set));
  }
  return lines;
};

const unlimited = 'as the record';

/** What other rules change, line by line. */
export const differences = (before: Access, after: Access): Difference[] => {
  const [old, next] = [describe(rulesBehind(before)), describe(rulesBehind(after))];
  return [...new Set([...old.keys(), ...next.keys()])]
    .map((title) => ({
      title,
      before: old.get(title) ?? unlimited,
      after: next.get(title) ?? unlimited,
    }))
    .filter(({ before, after }) => before !== after);
};
