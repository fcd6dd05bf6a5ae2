import { useState } from 'react';
import { call } from '../../api/call.ts';
import type { Item } from '../../api/operation-types.ts';
import { useChange } from '../../api/queries.ts';
import { confirm } from '../../parts/dialogs/confirm.tsx';
import { type Choice, MoreMenu } from '../../parts/menu.tsx';
import { notify, notifyProblem } from '../../parts/toasts.tsx';
import { countWords } from '../../parts/words/numbers.ts';
import { RenameCollection } from './rename-collection.tsx';

interface CollectionMenuProps {
  projectId: string;
  collection: Pick<Item<'listCollections'>, 'name'>;
  /** Goes before the rest. */
  choices?: readonly Choice[];
  onRenamed?(name: string): void;
  onDeleted?(): void;
}

const never = 'No undo brings them back.';

/** What can be done with a collection as a whole: rename, empty, delete. */
export const CollectionMenu = ({
  projectId,
  collection: { name },
  choices = [],
  onRenamed,
  onDeleted,
}: CollectionMenuProps) => {
  const [isRenaming, setRenaming] = useState(false);
  const remove = useChange('deleteCollection', { changes: ['listCollections', 'listRecords'] });
  const params = { projectId, collection: name };
  const run = (work: () => Promise<unknown>) => () => void work().catch(notifyProblem);

  const countNow = async () => {
    const { count } = await call('deleteCollection', { params, query: { dryRun: '1' } });
    return countWords(count, 'record');
  };
  const empty = async () => {
    const records = await countNow();
    const isSure = await confirm({
      title: `Delete all records of ${name}?`,
      says: `${records} will be gone at once, for everybody. ${never} The collection stays, with its access, schema and indexes.`,
      action: `Delete ${records}`,
      isDangerous: true,
      typed: name,
    });
    if (!isSure) return;
    const { count } = await remove.mutateAsync({ params, query: { empty: '1' } });
    notify(`${countWords(count, 'record')} deleted`);
    onDeleted?.();
  };
  const erase = async () => {
    const records = await countNow();
    const isSure = await confirm({
      title: `Delete the collection ${name}?`,
      says: `The collection, all that is set of it, and ${records} will be gone at once, for everybody. ${never}`,
      action: 'Delete collection',
      isDangerous: true,
      typed: name,
    });
    if (!isSure) return;
    await remove.mutateAsync({ params });
    notify(`The collection ${name} is deleted`);
    onDeleted?.();
  };

  return (
    <>
      <MoreMenu
        label={`More of ${name}`}
        choices={[
          ...choices,
          { label: 'Rename…', onSelect: () => setRenaming(true), takes: 'renameCollection' },
          {
            label: 'Delete all records…',
            onSelect: run(empty),
            isDangerous: true,
            takes: 'deleteCollection',
          },
          {
            label: 'Delete collection…',
            onSelect: run(erase),
            isDangerous: true,
            takes: 'deleteCollection',
          },
        ]}
      />
      {isRenaming && (
        <RenameCollection
          projectId={projectId}
          name={name}
          onClose={() => setRenaming(false)}
          onRenamed={onRenamed}
        />
      )}
    </>
  );
};
