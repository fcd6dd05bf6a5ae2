import type { Entry, Rules } from './words.ts';

export type Verdict = 'yes' | 'some' | 'no';

export interface Persona {
  label: string;
  /** Words that admit them for sure. */
  is: ReadonlySet<string>;
  /** Words that admit them sometimes: by their address, or by the record. */
  maybe: ReadonlySet<string>;
}

export interface MatrixRow {
  label: string;
  read: Verdict;
  create: Verdict;
  change: Verdict;
  delete: Verdict;
}

const user = ['anyone', 'users'];
const maybeUser = ['verified', 'ownerless'];

const persona = (label: string, is: readonly string[], maybe: readonly string[]): Persona => ({
  label,
  is: new Set(is),
  maybe: new Set(maybe),
});

const entriesIn = ({ fields = {}, ...lists }: Rules): Entry[] =>
  [lists, ...Object.values(fields)].flatMap((named) =>
    Object.values(named).flatMap((entries) => entries ?? []),
  );

/** Every word of the rules, those of conditions too. */
export const wordsIn = (rules: Rules): ReadonlySet<string> =>
  new Set(entriesIn(rules).flatMap((entry) => (typeof entry === 'string' ? [entry] : entry.to)));

/** Who is asked about: everybody, then whom the rules name, then other roles of the project. */
export const personasFor = (rules: Rules, roles: readonly string[]): Persona[] => {
  const words = wordsIn(rules);
  const named = (kind: string) => [...words].filter((word) => word.startsWith(kind));
  const groups = named('group');
  const roleWords = new Set([...named('role:'), ...roles.map((role) => `role:${role}`)]);
  return [
    persona('A stranger', ['anyone'], ['ownerless']),
    persona('A user', user, maybeUser),
    persona('Whoever made it', [...user, 'owner'], ['verified']),
    ...(groups.length > 0 ? [persona('A member of its group', [...user, 'group'], maybeUser)] : []),
    ...named('group:').map((word) =>
      persona(`The role ${word.slice(6)} of its group`, [...user, 'group', word], maybeUser),
    ),
    ...(words.has('shared')
      ? [persona('Whom it is shared with', [...user, 'shared'], maybeUser)]
      : []),
    ...[...roleWords].map((word) =>
      persona(`The role ${word.slice(5)}`, [...user, word], maybeUser),
    ),
  ];
};

const judgeEntry = (entry: Entry, { is, maybe }: Persona): Verdict => {
  const words = typeof entry === 'string' ? [entry] : entry.to;
  if (words.some((word) => is.has(word))) return typeof entry === 'string' ? 'yes' : 'some';
  return words.some((word) => maybe.has(word)) ? 'some' : 'no';
};

const judge = (entries: readonly Entry[], who: Persona): Verdict => {
  const verdicts = entries.map((entry) => judgeEntry(entry, who));
  if (verdicts.includes('yes')) return 'yes';
  return verdicts.includes('some') ? 'some' : 'no';
};

const both = (one: Verdict, other: Verdict): Verdict => {
  if (one === 'no' || other === 'no') return 'no';
  return one === 'some' || other === 'some' ? 'some' : 'yes';
};

/** Who can do what with a record. Nobody changes what they can not read. */
export const toMatrix = (rules: Rules, roles: readonly string[]): MatrixRow[] =>
  personasFor(rules, roles).map((who) => {
    const read = judge(rules.read, who);
    return {
      label: who.label,
      read,
      create: judge(rules.create, who),
      change: both(read, judge(rules.change, who)),
      delete: both(read, judge(rules.delete ?? rules.change, who)),
    };
  });
