import type { CheckedData } from '../data.ts';
import { changesField, type Patch, patchAction } from '../patch.ts';
import type { RecordTarget } from '../refusals.ts';
import type { ResultCheck, Update } from './change.ts';

interface Written {
  /** Epoch milliseconds. */
  now: number;
  resultCheck: ResultCheck | undefined;
}

/** The update that puts a document in place of a record's own. */
export const replaceUpdate = (
  { collection, access, id }: RecordTarget,
  data: CheckedData,
  { now, resultCheck }: Written,
): Update => ({
  kind: 'update',
  how: 'replace',
  collection,
  edits: [{ id, dataJson: data.json, unset: [], inc: {} }],
  names: data.has,
  now,
  by: { access, action: 'change' },
  source: access.source,
  resultCheck,
});

/** The update that a patch of one record asks for. */
export const patchUpdate = (
  { collection, access, id }: RecordTarget,
  patch: Patch,
  { now, resultCheck }: Written,
): Update => {
  const { dataJson, unset, inc, isDeep } = patch;
  const names = changesField(patch);
  return {
    kind: 'update',
    how: isDeep ? 'merge-deep' : 'merge',
    collection,
    edits: [{ id, dataJson, unset, inc }],
    names,
    isChanged: names,
    now,
    by: { access, action: patchAction(access, patch) },
    source: access.source,
    resultCheck,
  };
};

export const withRoom = (change: Update, roomBytes: number | undefined): Update =>
  change.by && roomBytes !== undefined ? { ...change, by: { ...change.by, roomBytes } } : change;
