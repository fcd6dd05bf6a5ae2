import { call } from '../../../api/call.ts';
import { useWhyNot } from '../../../api/roles.ts';
import { confirm } from '../../../parts/dialogs/confirm.tsx';
import { notify, notifyProblem } from '../../../parts/toasts.tsx';
import { countWords } from '../../../parts/words/numbers.ts';
import { type Deletion, deleteRecords } from '../record/delete-records.ts';
import type { Where } from './address.ts';

type Chosen = { ids: readonly string[] } | { where: Where };

interface DeletionOptions {
  projectId: string;
  collection: string;
  /** Whether changes are kept, by which it can be undone. */
  hasHistory: boolean;
  /** After a deletion, and after its undo. @param ids where single records were chosen */
  onDone(ids: readonly string[] | undefined): void;
  /** An undo begins, which takes a while: what was deleted can be shown again. */
  onUndo(ids: readonly string[] | undefined): void;
}

/** From so many on the name of the collection has to be typed. */
const typedFrom = 200;

/** Asks, deletes, and offers to bring them back. */
export const useDeletion = ({
  projectId,
  collection,
  hasHistory,
  onDone,
  onUndo,
}: DeletionOptions) => {
  const why = useWhyNot();
  const canUndo = hasHistory && why('undoChanges') === undefined;
  const bringBack = async (deletion: Deletion, ids: readonly string[] | undefined) => {
    onUndo(ids);
    try {
      const { created, conflictCount } = await deletion.undo();
      const left = conflictCount > 0 ? `, ${conflictCount} could not be brought back` : '';
      notify(`${countWords(created, 'record is back', 'records are back')}${left}`);
    } finally {
      onDone(undefined);
    }
  };
  return async (chosen: Chosen): Promise<void> => {
    const count =
      'ids' in chosen
        ? chosen.ids.length
        : (
            await call('deleteRecords', {
              project: projectId,
              params: { collection },
              query: { where: chosen.where, dryRun: '1' },
            })
          ).count;
    if (count === 0) return;
    const records = countWords(count, 'record');
    const isSure = await confirm({
      title: `Delete ${records}?`,
      says: hasHistory
        ? `${count === 1 ? 'It is' : 'They are'} gone from your app at once. You can ${canUndo ? 'undo it now, or ' : ''}restore ${count === 1 ? 'it' : 'them'} from the trash for some days.`
        : 'This collection keeps no history: they can not be brought back.',
      action: `Delete ${records}`,
      isDangerous: true,
      ...((count >= typedFrom || !hasHistory) && { typed: collection }),
    });
    if (!isSure) return;
    const deletion = await deleteRecords({ projectId, collection }, chosen);
    const ids = 'ids' in chosen ? chosen.ids : undefined;
    onDone(ids);
    notify(
      `${countWords(deletion.count, 'record')} deleted`,
      canUndo ? { undo: () => bringBack(deletion, ids).catch(notifyProblem) } : {},
    );
  };
};
