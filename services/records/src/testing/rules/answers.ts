import type { AccessRules } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import type { Contents } from './contents.ts';
import {
  type Action,
  allows,
  can,
  canRead,
  couldAllow,
  type Data,
  ruleFor,
  type Stored,
  seen,
  type Value,
} from './words.ts';

/** A refusal by a schema or a limit has its code. */
export type Answer = { status: number; code?: string; body?: unknown };
export const ok = (body: unknown): Answer => ({ status: 200, body });
export const missing: Answer = { status: 404 };
export const mismatch: Answer = { status: 400, code: 'schema_mismatch' };
export const tooMuch: Answer = { status: 403, code: 'limit_reached' };

export const refused = (who: Identity): Answer => ({
  status: who.caller === 'anonymous' ? 401 : 403,
});

/** A collection, and the other one, which no call changes. */
export interface Held extends Contents {
  others: Contents;
}

/** Whether there is no record with which they could do so. */
export const isHopeless = (rules: AccessRules, who: Identity, action: Action): boolean =>
  !couldAllow(ruleFor(rules, action), who) || !couldAllow(rules.read, who);

/** Strangers for whom no record could do are asked to sign in, whatever there is. */
export const shutsOut = (rules: AccessRules, who: Identity, action: Action): boolean =>
  who.caller === 'anonymous' && isHopeless(rules, who, action);

export const refusal = (
  rules: AccessRules,
  who: Identity,
  action: Exclude<Action, 'read'>,
  record: Stored,
): Answer | undefined => {
  if (!canRead(rules, who, record)) return missing;
  return can(rules, action, who, record) ? undefined : refused(who);
};

/** Whether the rule holds for what becomes of the record, too. */
export const admits = (
  rules: AccessRules,
  who: Identity,
  action: 'change' | 'count',
  after: Stored,
): boolean => allows(ruleFor(rules, action), who, after);

type Shown = Record<string, Value | Data>;

export const show = (
  { rules, others }: Held,
  who: Identity,
  record: Stored,
  { shown: names, includes = false }: { shown?: string[] | undefined; includes?: boolean } = {},
): Shown => {
  const isShown = (name: string) =>
    names === undefined || names.includes(name) || (includes && name === 'other');
  const all = Object.entries(seen(rules, who, record));
  const shown = Object.fromEntries(all.filter(([name]) => isShown(name)));
  const other = others.records.find(({ id }) => includes && id === shown.other);
  if (!other || !canRead(others.rules, who, other)) return shown;
  return { ...shown, other: seen(others.rules, who, other) };
};

export const seesOther =
  ({ others }: Held, who: Identity) =>
  (id: string): boolean =>
    others.records.some((other) => other.id === id && canRead(others.rules, who, other));
