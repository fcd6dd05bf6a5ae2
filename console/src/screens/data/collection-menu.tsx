import { useState } from 'react';
import { call } from '../../api/call.ts';
import type { Item } from '../../api/operation-types.ts';
import { useChange } from '../../api/queries.ts';
import { useWhyNot } from '../../api/roles.ts';
import { confirm } from '../../parts/dialogs/confirm.tsx';
import { type Choice, MoreMenu } from '../../parts/menu.tsx';
import { notify, notifyProblem } from '../../parts/toasts.tsx';
import { countWords } from '../../parts/words/numbers.ts';
import { useRestoreCollection } from './deleted-collections.tsx';
import { RenameCollection } from './rename-collection.tsx';

interface CollectionMenuProps {
  projectId: string;
  collection: Pick<Item<'listCollections'>, 'name'>;
  /** Goes before the rest. */
  choices?: readonly Choice[];
  onRenamed?(name: string): void;
  onDeleted?(): void;
}

const ends = (keptUntil: string | null) =>
  keptUntil === null
    ? 'This collection keeps no history: they can not be brought back.'
    : `Until ${new Date(keptUntil).toLocaleDateString()} you can restore them from the trash.`;
/** From so many records on the name of the collection has to be typed. */
const typedFrom = 200;

/** What can be done with a collection as a whole: rename, empty, delete. */
export const CollectionMenu = ({
  projectId,
  collection: { name },
  choices = [],
  onRenamed,
  onDeleted,
}: CollectionMenuProps) => {
  const [isRenaming, setRenaming] = useState(false);
  const remove = useChange('deleteCollection', {
    changes: ['listCollections', 'listRecords', 'listTrashedCollections'],
  });
  const restore = useRestoreCollection();
  const canRestore = useWhyNot()('restoreCollection') === undefined;
  const params = { projectId, collection: name };
  const run = (work: () => Promise<unknown>) => () => void work().catch(notifyProblem);

  const countNow = async () => {
    const { count, keptUntil } = await call('deleteCollection', { params, query: { dryRun: '1' } });
    const isTyped = keptUntil === null || count >= typedFrom;
    const records = countWords(count, 'record');
    return { records, says: ends(keptUntil), ...(isTyped && { typed: name }) };
  };
  const bringBack = async () => {
    await restore.mutateAsync({ params, body: {} });
    notify(`${name} is as it was`);
  };
  const tell = (said: string, keptUntil: string | null) => {
    const undo = () => bringBack().catch(notifyProblem);
    notify(said, keptUntil !== null && canRestore ? { undo } : {});
    onDeleted?.();
  };
  const empty = async () => {
    const { records, says, ...typed } = await countNow();
    const isSure = await confirm({
      title: `Delete all records of ${name}?`,
      says: `${records} will be gone at once, for everybody. ${says} The collection stays, with its access, schema and indexes.`,
      action: `Delete ${records}`,
      isDangerous: true,
      ...typed,
    });
    if (!isSure) return;
    const { count, keptUntil } = await remove.mutateAsync({ params, query: { empty: '1' } });
    tell(`${countWords(count, 'record')} deleted`, keptUntil);
  };
  const erase = async () => {
    const { records, says, ...typed } = await countNow();
    const isSure = await confirm({
      title: `Delete the collection ${name}?`,
      says: `The collection, all that is set of it, and ${records} will be gone at once, for everybody. ${says}`,
      action: 'Delete collection',
      isDangerous: true,
      ...typed,
    });
    if (!isSure) return;
    const { keptUntil } = await remove.mutateAsync({ params });
    tell(`The collection ${name} is deleted`, keptUntil);
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
