import {
  type AccessRules,
  type CollectionAccess,
  collectionAccess,
  type RouteResponse,
  type recordRoutes,
} from '@backlot/contract';
import { compileAccess } from '../collections/rules.ts';
import { isWord, type RowPolicy, type RuleEntry } from '../collections/terms/terms.ts';

type Exposure = RouteResponse<typeof recordRoutes.getExposure>['items'][number];
type Stricter = Exposure['stricter'][number];

const strangers = { isUser: false, groups: [] };
const users = { isUser: true, groups: [] };

export const strangersRead = (access: CollectionAccess): Exposure['strangersRead'] => {
  const { read } = compileAccess(access).permissionsFor(strangers).rights;
  return typeof read === 'string' ? read : 'some';
};

const usersRead = (access: CollectionAccess): RowPolicy =>
  compileAccess(access).permissionsFor(users).rights.read;

const tooOpen = new Set(['anyone', 'users', 'verified']);

/** The same entries, but for those words. */
const without = (
  rule: readonly RuleEntry[],
  isTooOpen: (word: string) => boolean,
  instead: string,
): RuleEntry[] => {
  const replace = (words: readonly string[]) => [
    ...new Set(words.map((word) => (isTooOpen(word) ? instead : word))),
  ];
  const words = replace(rule.filter(isWord)) as RuleEntry[];
  const conditions = rule.flatMap((entry) =>
    isWord(entry) ? [] : [{ ...entry, to: replace(entry.to) as typeof entry.to }],
  );
  return [...words, ...conditions];
};

/** How many reads of the last day other rules would have refused, or shown less. */
const judge = (
  before: CollectionAccess,
  after: CollectionAccess,
  { anonymous = 0, user = 0 }: Exposure['reads'],
) => {
  const kinds = [
    { reads: anonymous, was: strangersRead(before), is: strangersRead(after), isRefused: true },
    { reads: user, was: usersRead(before), is: usersRead(after), isRefused: false },
  ];
  let refused = 0;
  let narrowed = 0;
  for (const { reads, was, is, isRefused } of kinds) {
    if (JSON.stringify(was) === JSON.stringify(is)) continue;
    // To users lists show what they may see; strangers who may see nothing get a 401.
    if (is === 'none' && isRefused) refused += reads;
    else narrowed += reads;
  }
  return { refused, narrowed };
};

export interface Opened {
  path: string;
  access: CollectionAccess;
  reads: Exposure['reads'];
  /** Fields that strangers read and should perhaps not. */
  openFields: readonly string[];
}

/** Rules that show less, with what they would have done and how to go back. */
export const stricterRules = ({ path, access, reads, openFields }: Opened): Stricter[] => {
  const { rules } = compileAccess(access);
  const call = (access: CollectionAccess) => ({ method: 'PUT' as const, path, body: { access } });
  const option = (rule: Stricter['rule'], stricter: AccessRules): Stricter => ({
    rule,
    ...judge(access, stricter, reads),
    set: call(stricter),
    undo: call(access),
  });
  const options: Stricter[] = [];
  if (openFields.length > 0) {
    const hidden = openFields.map((field) => [
      field,
      { ...rules.fields?.[field], read: ['owner'] },
    ]);
    const fields = { ...rules.fields, ...Object.fromEntries(hidden) };
    const narrowed = (reads.anonymous ?? 0) + (reads.user ?? 0);
    options.push({ ...option('hide-fields', { ...rules, fields }), refused: 0, narrowed });
  }
  if (strangersRead(access) !== 'none') {
    const read = without(rules.read, (word) => word === 'anyone' || word === 'ownerless', 'users');
    options.push(option('users', { ...rules, read }));
  }
  if (strangersRead(access) !== 'none' || usersRead(access) === 'all') {
    const isTooOpen = (word: string) => tooOpen.has(word) || word === 'ownerless';
    options.push(option('owner', { ...rules, read: without(rules.read, isTooOpen, 'owner') }));
  }
  // One with more fields or letters than rules may have could not be set.
  return options.filter(({ set }) => collectionAccess.safeParse(set.body.access).success);
};
