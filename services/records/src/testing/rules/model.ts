import type { AccessRules } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { type Answer, type Held, missing, ok } from './answers.ts';
import type { Operation, OperationOf } from './arbitrary-calls.ts';
import { patch, put, remove } from './changes.ts';
import type { Contents } from './contents.ts';
import { batch, create, upsert } from './new-records.ts';
import { count, exportLines, get, list, sum } from './reads.ts';
import { filled, serverFields } from './schemas.ts';
import { canRead, type Data, type Stored, type StoredShare, uses } from './words.ts';

const shareKey = ({ userId, email = '' }: StoredShare) => `${email} ${userId}`;
const inOrder = (a: StoredShare, b: StoredShare) => (shareKey(a) < shareKey(b) ? -1 : 1);

/** What the server writes nobody whom rules bind gives or changes. */
const withServerFields = ({ rules, schema }: Contents): AccessRules => {
  const fields = { ...rules.fields };
  for (const name of serverFields(schema ?? {}))
    fields[name] = { ...fields[name], create: [], change: [] };
  return { ...rules, fields };
};

export class Model {
  readonly #held: Held;

  constructor(things: Contents, others: Contents) {
    this.#held = { ...things, rules: withServerFields(things), others };
  }

  get records(): Stored[] {
    return this.#held.records;
  }

  set records(records: Stored[]) {
    this.#held.records = records;
  }

  pick(index: number): Stored | undefined {
    return this.records[index % Math.max(1, this.records.length)];
  }

  /** What a new record has, with what the server writes into it. */
  filled(who: Identity, data: Data): Data {
    return filled(this.#held.schema, who, data);
  }

  run(who: Identity, operation: Operation): Answer {
    const held = this.#held;
    switch (operation.kind) {
      case 'list':
        return list(held, who, operation);
      case 'count':
        return count(held, who, operation);
      case 'export':
        return exportLines(held, who, operation);
      case 'aggregate':
        return sum(held, who, operation);
      case 'create':
        return create(held, who, operation.data, operation.groupId);
      case 'batch': {
        const named = [this.pick(operation.which), this.pick(operation.other)] as const;
        return batch(held, who, named, operation);
      }
      case 'upsert': {
        const record = operation.isNew ? undefined : this.pick(operation.which);
        return upsert(held, who, record, operation);
      }
      case 'prove':
        return this.#prove(operation);
      case 'get':
        return get(held, who, this.pick(operation.which), operation);
      case 'delete':
        return remove(held, who, this.pick(operation.which));
      case 'patch':
        return patch(held, who, this.pick(operation.which), operation.patch);
      case 'put':
        return put(held, who, this.pick(operation.which), operation.data);
      default:
        return this.#shares(who, this.pick(operation.which), operation);
    }
  }

  #prove({ userId, email }: OperationOf<'prove'>): Answer {
    for (const { shares } of [...this.records, ...this.#held.others.records])
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
    if (!record || !canRead(this.#held.rules, who, record)) return missing;
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
        if (!canRead(this.#held.rules, who, { ...record, shares: [] })) return { status: 403 };
        return this.#addShare(record, operation);
    }
  }

  /** One with the same user or address is replaced; who has the address is shown anew before it allows more. */
  #addShare(record: Stored, { kind, which, ...share }: OperationOf<'share' | 'invite'>): Answer {
    if (!uses(this.#held.rules, 'shared')) return { status: 409 };
    const added: StoredShare = { userId: null, ...share };
    const isSame = ({ userId, email }: StoredShare) =>
      email === added.email && (email !== undefined || userId === added.userId);
    const before = record.shares.find(isSame);
    if (before?.email && before.may === 'read' && added.may === 'change') before.userId = null;
    if (before) before.may = added.may;
    else record.shares.push(added);
    return ok(share);
  }
}
