import { ApiError } from '@backlot/contract';
import type { Identity } from '@backlot/identity';

/** Streams that are open at once, in one process. */
const bounds = {
  caller: 10,
  /** Visitors are known by their address alone, which a school shares. */
  visitors: 100,
  /** Accounts are free: of an address in one project. */
  addressInProject: 250,
  project: 1000,
  owner: 5000,
  address: 1000,
  all: 20_000,
};
type Bound = keyof typeof bounds;

/** All streams, those of an owner, of a project, and of an address in a project, each of which has those below it. */
interface Group {
  count: number;
  below: Map<string, Group>;
  /** Of an address: how each is ended, in the order in which they have come. */
  ends: Set<() => void>;
}

const newGroup = (): Group => ({ count: 0, below: new Map(), ends: new Set() });

/** Names of the groups, from the largest. */
const toPath = ({ project, ip }: Identity): string[] => {
  const number = String(project.number);
  return [project.ownerId ?? number, number, ip];
};
/** What bounds a group, by how many names are before it. */
const groupBounds = ['all', 'owner', 'project', 'addressInProject'] as const;

const toKeys = ({ project, caller, userId, keyId, ip }: Identity): [Bound, string][] => [
  caller === 'anonymous'
    ? ['visitors', `${project.number} ${ip}`]
    : ['caller', `${project.number} ${caller} ${userId ?? keyId ?? caller}`],
  ['address', ip],
];

const refusal = (bound: Bound) => {
  const retryAfterSeconds = 5 + Math.floor(Math.random() * 10);
  if (bound === 'all')
    return new ApiError('overloaded', 'Too many streams are open. Try again shortly.', {
      retryAfterSeconds,
    });
  const whose = {
    caller: 'You have',
    visitors: 'Visitors at your address have',
    addressInProject: 'In this project your network address has',
    project: 'This project has',
    owner: 'The owner of this project has',
    address: 'Your network address has',
  }[bound];
  return new ApiError(
    'rate_limited',
    `${whose} ${bounds[bound]} streams open, which is as many as there may be.`,
    { retryAfterSeconds, hint: 'One stream carries up to 20 collections; close those not needed.' },
  );
};

const findHeaviest = ({ below }: Group): [string, Group] | undefined => {
  let heaviest: [string, Group] | undefined;
  for (const each of below) if (!heaviest || each[1].count > heaviest[1].count) heaviest = each;
  return heaviest;
};

/** The one that came last of the heaviest below, where who comes has less than they have; undefined where none has. */
const findDisplaced = (group: Group, path: readonly string[]): (() => void) | undefined => {
  const [own, ...rest] = path;
  const [name, heaviest] = findHeaviest(group) ?? [];
  if (own === undefined || !heaviest) return undefined;
  if (name === own) return findDisplaced(heaviest, rest);
  // With one more they would have as many: nobody takes turns.
  if ((group.below.get(own)?.count ?? 0) + 1 >= heaviest.count) return undefined;
  let found = heaviest;
  while (found.below.size > 0) found = findHeaviest(found)?.[1] ?? found;
  return [...found.ends].at(-1);
};

/**
 * Where a project, an owner or the process has as many streams as it may, who comes from an address, a project or an
 * owner with few takes the place of who has most.
 */
export const createStreamPlaces = () => {
  const all = newGroup();
  const counts = new Map<string, number>();
  const add = (key: string, by: number) => {
    const count = (counts.get(key) ?? 0) + by;
    if (count > 0) counts.set(key, count);
    else counts.delete(key);
  };
  /** As far as they are there, from the largest. */
  const findGroups = (path: readonly string[]) => {
    const groups = [all];
    for (const name of path) {
      const next = groups.at(-1)?.below.get(name);
      if (!next) break;
      groups.push(next);
    }
    return groups;
  };

  const makeRoom = (path: readonly string[]) => {
    const groups = findGroups(path);
    for (const [at, bound] of [...groupBounds.entries()].reverse()) {
      const group = groups[at];
      if (!group || group.count < bounds[bound]) continue;
      const end = findDisplaced(group, path.slice(at));
      if (!end) throw refusal(bound);
      return end();
    }
  };

  /**
   * Answers what gives the place back.
   * @param onDisplaced another one has taken it, which is given back by then
   * @throws ApiError rate_limited, overloaded
   */
  return (identity: Identity, onDisplaced: () => void): (() => void) => {
    const keys = toKeys(identity);
    const full = keys.find(([bound, key]) => (counts.get(`${bound} ${key}`) ?? 0) >= bounds[bound]);
    if (full) throw refusal(full[0]);
    const path = toPath(identity);
    makeRoom(path);
    let isLeft = false;
    const leave = () => {
      if (isLeft) return;
      isLeft = true;
      for (const [bound, key] of keys) add(`${bound} ${key}`, -1);
      const groups = findGroups(path);
      groups.at(-1)?.ends.delete(end);
      for (const group of groups) group.count -= 1;
      for (const [at, name] of [...path.entries()].reverse())
        if (groups[at + 1]?.count === 0) groups[at]?.below.delete(name);
    };
    const end = () => {
      leave();
      onDisplaced();
    };
    for (const [bound, key] of keys) add(`${bound} ${key}`, 1);
    let group = all;
    group.count += 1;
    for (const name of path) {
      const next = group.below.get(name) ?? newGroup();
      group.below.set(name, next);
      group = next;
      group.count += 1;
    }
    group.ends.add(end);
    return leave;
  };
};
