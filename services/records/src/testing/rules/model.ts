import type { AccessRules } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { type Aggregated, aggregate } from './aggregate.ts';
import type { Operation, OperationOf, Patch } from './arbitrary-calls.ts';
import type { Contents } from './contents.ts';
import {
  type Action,
  allows,
  can,
  canRead,
  changes,
  couldAllow,
  type Data,
  ruleFor,
  type Stored,
  type StoredShare,
  seen,
  sees,
  uses,
  type Value,
} from './words.ts';

const shareKey = ({ userId, email = '' }: StoredShare) => `${email} ${userId}`;
const inOrder = (a: StoredShare, b: StoredShare) => (shareKey(a) < shareKey(b) ? -1 : 1);

type Shown = Record<string, Value | Data>;

export type Answer = { status: number; body?: unknown };
export const ok = (body: unknown): Answer => ({ status: 200, body });
const missing: Answer = { status: 404 };

export class Model {
  readonly #rules: AccessRules;
  /** What `include` shows; no call changes it. */
  readonly #others: Contents;
  records: Stored[];

  constructor({ rules, records }: Contents, others: Contents) {
    this.#rules = rules;
    this.#others = others;
    this.records = records;
  }

  pick(index: number): Stored | undefined {
    return this.records[index % Math.max(1, this.records.length)];
  }

  #refused(who: Identity): Answer {
    return { status: who.caller === 'anonymous' ? 401 : 403 };
  }

  /** Strangers for whom no record could do are asked to sign in, whatever there is. */
  #shutsOut(who: Identity, action: Action): boolean {
    const isOpen =
      couldAllow(ruleFor(this.#rules, action), who) && couldAllow(this.#rules.read, who);
    return who.caller === 'anonymous' && !isOpen;
  }

  #actionOf({ data, unset, inc }: Patch): 'change' | 'count' {
    const addsOnly = Object.keys(inc).length > 0 && [...Object.keys(data), ...unset].length === 0;
    return this.#rules.count && addsOnly ? 'count' : 'change';
  }

  #show(
    who: Identity,
    record: Stored,
    { shown: names, includes = false }: { shown?: string[] | undefined; includes?: boolean } = {},
  ): Shown {
    const isShown = (name: string) =>
      names === undefined || names.includes(name) || (includes && name === 'other');
    const all = Object.entries(seen(this.#rules, who, record));
    const shown = Object.fromEntries(all.filter(([name]) => isShown(name)));
    const { rules, records } = this.#others;
    const other = records.find(({ id }) => includes && id === shown.other);
    if (!other || !canRead(rules, who, other)) return shown;
    return { ...shown, other: seen(rules, who, other) };
  }

  #refusal(who: Identity, action: Exclude<Action, 'read'>, record: Stored): Answer | undefined {
    if (!canRead(this.#rules, who, record)) return missing;
    return can(this.#rules, action, who, record) ? undefined : this.#refused(who);
  }

  /** Of a field that is given a value, taken out (undefined) or added to. */
  #mayChange(who: Identity, record: Stored, name: string, value: Value | undefined): boolean {
    if (changes(this.#rules, who, record, name)) return true;
    return sees(this.#rules, who, record, name) && record.data[name] === value;
  }

  #patched(who: Identity, record: Stored, { data, unset, inc }: Patch): Data | undefined {
    const fields = [
      ...Object.entries(data).map(([name, value]) => [name, value] as const),
      ...unset.map((name) => [name, undefined] as const),
    ];
    if (fields.some(([name, value]) => !this.#mayChange(who, record, name, value)))
      return undefined;
    const adds = Object.keys(inc);
    if (adds.some((name) => !changes(this.#rules, who, record, name))) return undefined;
    const countsOnly = !can(this.#rules, 'change', who, record);
    if (countsOnly && adds.some((name) => !(name in record.data))) return undefined;
    const sums = Object.entries(inc).map(
      ([name, by]) => [name, Number(record.data[name] ?? 0) + by] as const,
    );
    const merged: Data = { ...record.data, ...data, ...Object.fromEntries(sums) };
    return Object.fromEntries(Object.entries(merged).filter(([name]) => !unset.includes(name)));
  }

  /** Of a new record. */
  #made(who: Identity, data: Data, groupId: string | undefined): Answer {
    const isMember = who.groups?.some(({ id }) => id === groupId) ?? false;
    if (groupId !== undefined) {
      if (!uses(this.#rules, 'group')) return { status: 400 };
      if (who.caller !== 'key' && !isMember) return this.#refused(who);
    }
    const record = { id: '', groupId: groupId ?? null, shares: [], data: {}, ownerId: who.userId };
    const mayGive = (name: string) => {
      const { create, change } = this.#rules.fields?.[name] ?? {};
      return allows(create ?? change, who, record);
    };
    if (!allows(this.#rules.create, who, record) || !Object.keys(data).every(mayGive))
      return this.#refused(who);
    return { status: 201, body: seen(this.#rules, who, { ...record, data }) };
  }

  run(who: Identity, operation: Operation): Answer {
    switch (operation.kind) {
      case 'list':
        return this.#list(who, operation);
      case 'count':
        return this.#count(who, operation);
      case 'aggregate':
        return this.#aggregate(who, operation);
      case 'create':
        return this.#made(who, operation.data, operation.groupId);
      case 'batch':
        return this.#batch(who, operation);
      case 'upsert':
        return this.#upsert(
          who,
          operation.isNew ? undefined : this.pick(operation.which),
          operation,
        );
      case 'prove':
        return this.#prove(operation);
      case 'share':
      case 'unshare':
      case 'invite':
      case 'disinvite':
      case 'shares':
        return this.#shares(who, this.pick(operation.which), operation);
      default:
        return this.#single(who, this.pick(operation.which), operation);
    }
  }

  /** Those that fit, or the refusal. @param named the fields that the call asks for */
  #select(
    who: Identity,
    { where, group, search }: Partial<Omit<OperationOf<'count'>, 'kind'>>,
    named: readonly (string | undefined)[] = [],
  ): Stored[] | Answer {
    if (group !== undefined && !uses(this.#rules, 'group')) return { status: 400 };
    if (this.#shutsOut(who, 'read')) return { status: 401 };
    const isHidden = (name: string | undefined) =>
      name !== undefined && !couldAllow(this.#rules.fields?.[name]?.read, who);
    if ([where?.[0], ...named].some(isHidden)) return this.#refused(who);
    if (search && !this.#maySearch(who)) return this.#refused(who);
    return this.records.filter(
      (record) =>
        canRead(this.#rules, who, record) &&
        (search === undefined || record.data.other === search) &&
        (group === undefined || record.groupId === group) &&
        (!where || this.#passes(seen(this.#rules, who, record)[where[0]], where[1])),
    );
  }

  /** By words of the field `other`: who reads anything at all, and from whom no record hides it. */
  #maySearch(who: Identity): boolean {
    const strangers = { id: '', ownerId: '', groupId: null, shares: [], data: {} };
    return !couldAllow(this.#rules.read, who) || sees(this.#rules, who, strangers, 'other');
  }

  #list(who: Identity, operation: OperationOf<'list'>): Answer {
    const { sort } = operation;
    const found = this.#select(who, operation, [sort?.[1]]);
    if (!Array.isArray(found)) return found;
    const [sign, name] = sort ?? ['-', undefined];
    const key = (record: Stored) =>
      name === undefined ? 0 : Number(seen(this.#rules, who, record)[name] ?? -1);
    const inOrder = found.sort((a, b) => key(a) - key(b) || (a.id < b.id ? -1 : 1));
    const items = (sign === '-' ? inOrder.reverse() : inOrder).map((record) =>
      this.#show(who, record, operation),
    );
    return ok({ items, total: items.length });
  }

  #count(who: Identity, operation: OperationOf<'count'>): Answer {
    const found = this.#select(who, operation);
    return Array.isArray(found) ? ok(found.length) : found;
  }

  #aggregate(who: Identity, { where, by, measures }: OperationOf<'aggregate'>): Answer {
    const found = this.#select(who, { where }, [by, ...measures.map(([, field]) => field)]);
    if (!Array.isArray(found)) return found;
    const groups: Aggregated[] = aggregate(
      found.map((record) => seen(this.#rules, who, record)),
      by,
      measures,
    );
    return ok(groups);
  }

  #passes(value: Value | undefined, condition: unknown): boolean {
    if (typeof condition === 'number') return value === condition;
    const { $gt, $exists, $ne } = condition as Record<string, number | boolean>;
    if ($gt !== undefined) return typeof value === 'number' && value > Number($gt);
    if ($exists !== undefined) return (value !== undefined) === $exists;
    return value !== $ne;
  }

  #single(
    who: Identity,
    record: Stored | undefined,
    operation: OperationOf<'get' | 'delete' | 'patch' | 'put'>,
  ): Answer {
    if (operation.kind === 'get') {
      if (this.#shutsOut(who, 'read')) return { status: 401 };
      return record && canRead(this.#rules, who, record)
        ? ok(this.#show(who, record, operation))
        : missing;
    }
    const ofPatch = operation.kind === 'patch' ? this.#actionOf(operation.patch) : 'change';
    const action = operation.kind === 'delete' ? 'delete' : ofPatch;
    if (this.#shutsOut(who, action)) return { status: 401 };
    if (!record) return missing;
    const refusal = this.#refusal(who, action, record);
    if (refusal) return refusal;
    if (operation.kind === 'delete') {
      this.records = this.records.filter((other) => other !== record);
      return { status: 200 };
    }
    const changed =
      operation.kind === 'patch'
        ? this.#patched(who, record, operation.patch)
        : this.#replaced(who, record, operation.data);
    if (!changed) return this.#refused(who);
    record.data = changed;
    return ok(this.#show(who, record));
  }

  #replaced(who: Identity, record: Stored, data: Data): Data | undefined {
    const mayChange = ([name, value]: [string, Value]) => this.#mayChange(who, record, name, value);
    if (!Object.entries(data).every(mayChange)) return undefined;
    const kept = Object.entries(record.data).filter(
      ([name]) => !changes(this.#rules, who, record, name),
    );
    return { ...data, ...Object.fromEntries(kept) };
  }

  /** @param record that has the id; undefined where it is a new one */
  #upsert(
    who: Identity,
    record: Stored | undefined,
    { isNew, data }: OperationOf<'upsert'>,
  ): Answer {
    const made = this.#made(who, data, undefined);
    if (isNew) return made;
    if (this.#shutsOut(who, 'change')) return { status: 401 };
    if (record && canRead(this.#rules, who, record))
      return this.#single(who, record, { kind: 'put', which: 0, data });
    if (record) return made.status === 201 ? missing : made;
    // There is no record, and "none" is no id.
    return this.#made(who, {}, undefined).status === 201 ? { status: 400 } : this.#refused(who);
  }

  #prove({ userId, email }: OperationOf<'prove'>): Answer {
    for (const { shares } of this.records)
      for (const share of shares) if (share.email === email) share.userId = userId;
    return { status: 200 };
  }

  /** Its owner decides with whom it is shared, and who has a share may end it. */
  #shares(
    who: Identity,
    record: Stored | undefined,
    operation: OperationOf<'share' | 'unshare' | 'invite' | 'disinvite' | 'shares'>,
  ): Answer {
    if (who.caller === 'anonymous') return { status: 401 };
    if (!record || !canRead(this.#rules, who, record)) return missing;
    const isOwn = who.caller === 'key' || record.ownerId === who.userId;
    const endsOwnShare = operation.kind === 'unshare' && operation.userId === who.userId;
    if (!isOwn && !endsOwnShare) return { status: 403 };
    const { shares } = record;
    switch (operation.kind) {
      case 'shares':
        return ok(
          shares
            .toSorted(inOrder)
            .map(({ userId, email, may }) => (email ? { email, may } : { userId, may })),
        );
      case 'unshare':
      case 'disinvite': {
        const isEnded = (share: StoredShare) =>
          operation.kind === 'disinvite'
            ? share.email === operation.email
            : share.userId === operation.userId && (endsOwnShare || share.email === undefined);
        record.shares = shares.filter((share) => !isEnded(share));
        return record.shares.length === shares.length ? missing : { status: 200 };
      }
      default:
        // Whoever has it by a share alone does not pass it on.
        if (!canRead(this.#rules, who, { ...record, shares: [] })) return { status: 403 };
        return this.#addShare(record, operation);
    }
  }

  /** One with the same user or address is replaced; who has the address is shown anew before it allows more. */
  #addShare(record: Stored, { kind, which, ...share }: OperationOf<'share' | 'invite'>): Answer {
    if (!uses(this.#rules, 'shared')) return { status: 409 };
    const added: StoredShare = { userId: null, ...share };
    const isSame = ({ userId, email }: StoredShare) =>
      email === added.email && (email !== undefined || userId === added.userId);
    const before = record.shares.find(isSame);
    if (before?.email && before.may === 'read' && added.may === 'change') before.userId = null;
    if (before) before.may = added.may;
    else record.shares.push(added);
    return ok(share);
  }

  #batch(who: Identity, { which, other, patch, data, groupId }: OperationOf<'batch'>): Answer {
    const updated = this.pick(which);
    const deleted = this.pick(other);
    if (!updated || !deleted || updated === deleted) return { status: 400 };
    const made = this.#made(who, data, groupId);
    if (made.status !== 201) return made;
    const action = this.#actionOf(patch);
    if (this.#shutsOut(who, action) || this.#shutsOut(who, 'delete')) return { status: 401 };
    const refusal = this.#refusal(who, action, updated) ?? this.#refusal(who, 'delete', deleted);
    if (refusal) return refusal;
    const changed = this.#patched(who, updated, patch);
    if (!changed) return this.#refused(who);
    updated.data = changed;
    this.records = this.records.filter((record) => record !== deleted);
    return { status: 200 };
  }
}
