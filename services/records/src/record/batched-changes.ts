import { batchCalls } from '@backlot/database';
import { writePolicySql } from '../collections/access.ts';
import { hasConditions } from '../collections/terms/terms.ts';
import { platformSource } from '../source.ts';
import { Parameters } from '../sql.ts';
import { type Creation, changedIds, type Update } from './change/change.ts';
import type { ChangedRow } from './change/change-sql.ts';
import type { SendChange } from './change/send-change.ts';
import { isAlone, sideColumns } from './change/side-effects.ts';

/** A larger one would keep those waiting that are written with it. */
const maxBatchedBytes = 64 * 1024;

interface Single<Kind extends Creation | Update = Creation | Update> {
  change: Kind;
  /** The same by itself. @throws ApiError */
  alone(): Promise<Written<Kind>>;
}

/** What its statement answers; nothing of a record whose id is taken. */
type Written<Kind> = Kind extends Update ? ChangedRow : { id: string } | undefined;

/** Which records the caller may change, with their id as a column; undefined where that takes more of them. */
const anyonesPolicySql = ({ by }: Update): string | undefined => {
  if (!by || hasConditions(by.access.rights.change)) return undefined;
  const parameters = new Parameters();
  const access = { ...by.access, userColumn: 'change.user_id' };
  const policy = writePolicySql(access, 'change', parameters);
  return parameters.values.length === 0 ? (policy ?? 'true') : undefined;
};

const findUpdateKey = (change: Update): string | undefined => {
  const { by, edits, how, names } = change;
  const [edit] = edits;
  if (!by || !edit) return undefined;
  const { hidden, frozen } = by.access.fields;
  const mayJoin =
    by.action === 'change' &&
    by.versions === undefined &&
    by.roomBytes === undefined &&
    how !== 'merge-deep' &&
    edit.unset.length === 0 &&
    hidden.length === 0 &&
    !frozen.some(({ field }) => how === 'replace' || names(field));
  const policy = mayJoin ? anyonesPolicySql(change) : undefined;
  if (policy === undefined) return undefined;
  const columns = sideColumns(change, '', undefined, new Parameters()).map(({ column }) => column);
  const adds = Object.keys(edit.inc).length > 0;
  return `${how} ${adds ? 'adds' : 'sets'} ${policy} ${columns.join(' ')}`;
};

/** Of changes with one text; undefined where a change can't be among others. */
const findKey = (change: Creation | Update): string | undefined => {
  const [{ dataJson } = { dataJson: '' }] =
    change.kind === 'create' ? change.records : change.edits;
  if (dataJson.length > maxBatchedBytes || isAlone(change)) return undefined;
  const { projectNumber, id, epoch } = change.collection;
  if (change.kind === 'create')
    return change.isIdChosen ? undefined : `create ${projectNumber} ${id} ${epoch}`;
  const key = findUpdateKey(change);
  return key && `update ${projectNumber} ${id} ${epoch} ${key}`;
};

/** All of one key. An update skips what others have locked, so that no call keeps another one waiting. */
const join = (first: Creation | Update, changes: readonly (Creation | Update)[]) => {
  const source = changes.flatMap((change) => change.source ?? platformSource);
  if (first.kind === 'create') {
    const records = changes.flatMap((change) => (change.kind === 'create' ? change.records : []));
    return { ...first, records, source };
  }
  const updates = changes.filter((change) => change.kind === 'update');
  const userIds = updates.map(({ by }) => by?.access.userId ?? null);
  return {
    ...first,
    edits: updates.flatMap(({ edits }) => edits),
    source,
    ...(first.by && {
      by: { ...first.by, access: { ...first.by.access, userColumn: 'change.user_id' } },
    }),
    skipsLocked: { userIds, maxBytes: maxBatchedBytes },
  };
};

interface Waiting extends Single {
  id: string;
}

/**
 * Has one statement make changes of different records of a collection that come together.
 * @param mayJoin whether the caller is in no transaction of their own
 */
export const batchChanges = (send: SendChange, mayJoin: () => boolean) => {
  const sendAll = async (_key: string, all: readonly Waiting[]) => {
    const [first] = all;
    if (!first || all.length === 1) return Promise.all(all.map((one) => one.alone()));
    const joined = join(
      first.change,
      all.map(({ change }) => change),
    );
    const rows = await send<ChangedRow>(joined);
    if (joined.kind === 'create') return rows.length > 0 ? all : [];
    const byId = new Map(rows.map((row) => [row.id, row]));
    return all.map(({ id }) => byId.get(id));
  };
  const batched = batchCalls<string, Waiting, { id: string } | undefined>(
    sendAll,
    (a, b) => a.id === b.id,
  );

  return async <Kind extends Creation | Update>(single: Single<Kind>): Promise<Written<Kind>> => {
    const { change, alone } = single as Single;
    const key = mayJoin() ? findKey(change) : undefined;
    if (key === undefined) return single.alone();
    const id = changedIds(change)[0]?.toLowerCase() ?? '';
    const written = await batched(key, { change, alone, id });
    return written === undefined ? single.alone() : (written as Written<Kind>);
  };
};

export type BatchChange = ReturnType<typeof batchChanges>;
