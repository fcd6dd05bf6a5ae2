import type { Item } from '../../api/operation-types.ts';
import { countWords, formatCount } from '../../parts/words/numbers.ts';

export type Exposed = Item<'getExposure'>;
export type Stricter = Exposed['stricter'][number];
type Counts = Exposed['reads'];

export const kindWords: Readonly<Record<Exposed['fields'][number]['kind'], string>> = {
  email: 'e-mail addresses',
  phone: 'phone numbers',
  card: 'card numbers',
  secret: 'keys or passwords',
  amount: 'amounts',
};

/** The most pressing first: what strangers read that looks personal, then what they read, then the rest. */
export const byUrgency = (items: readonly Exposed[]): Exposed[] =>
  [...items].sort((a, b) => urgency(b) - urgency(a) || a.name.localeCompare(b.name));

export const openFields = ({ fields }: Exposed): Exposed['fields'] =>
  fields.filter(({ isOpen }) => isOpen);

const urgency = (item: Exposed): number => {
  if (openFields(item).length > 0) return 2;
  return item.strangersRead === 'none' ? 0 : 1;
};

const callerNames = {
  anonymous: 'strangers',
  user: 'users',
  owner: 'you',
  key: 'keys',
  operator: 'the operator',
} as const;

/** "31 by strangers, 4 by users"; "none". */
export const countsWords = (counts: Counts): string => {
  const parts = Object.entries(callerNames).flatMap(([caller, name]) => {
    const count = counts[caller as keyof typeof callerNames] ?? 0;
    return count > 0 ? [`${formatCount(count)} by ${name}`] : [];
  });
  return parts.join(', ') || 'none';
};

export const ruleWords: Readonly<
  Record<Stricter['rule'], { title: string; means: string; action: string }>
> = {
  'hide-fields': {
    title: 'Hide these fields',
    means: 'Only whoever made a record still sees such fields in it; all else stays as it is.',
    action: 'Hide fields',
  },
  users: {
    title: 'Only signed-in users read',
    means: 'Who is not signed in reads nothing of it any more.',
    action: 'Let only users read',
  },
  owner: {
    title: 'Only whoever made a record reads it',
    means: 'Others read nothing of it any more, whether they are signed in or not.',
    action: 'Let only owners read',
  },
};

/** What the last day would have been under the rule. */
export const effectWords = ({ refused, narrowed }: Stricter): string => {
  const ofDay = (count: number) => `${countWords(count, 'read')} of the last day`;
  const parts = [
    ...(refused > 0 ? [`${ofDay(refused)} would have been refused`] : []),
    ...(narrowed > 0 ? [`${ofDay(narrowed)} would have shown less`] : []),
  ];
  return parts.join(', ') || 'No read of the last day would have been refused or shown less';
};
