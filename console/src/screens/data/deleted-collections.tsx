import { useState } from 'react';
import type { Item } from '../../api/operation-types.ts';
import { useCall, useChange } from '../../api/queries.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { confirm } from '../../parts/dialogs/confirm.tsx';
import { RenameModal } from '../../parts/dialogs/rename-modal.tsx';
import { WideTable } from '../../parts/lists/wide-table.tsx';
import { MoreMenu } from '../../parts/menu.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Takes } from '../../parts/takes.tsx';
import { notify, notifyProblem } from '../../parts/toasts.tsx';
import { countWords, formatBytes, formatCount } from '../../parts/words/numbers.ts';
import { Time } from '../../parts/words/time.tsx';
import { actorWords } from './record/history-tab.tsx';

type Deleted = Item<'listTrashedCollections'>;

const changes = ['listTrashedCollections', 'listCollections', 'listRecords'] as const;

export const useRestoreCollection = () => useChange('restoreCollection', { changes: [...changes] });

interface RowProps {
  projectId: string;
  deleted: Deleted;
  /** The name is another one's. */
  onTaken(error: Error): void;
}

const DeletedRow = ({ projectId, deleted, onTaken }: RowProps) => {
  const { name, how, records, sizeBytes, deletedAt, keptUntil, by } = deleted;
  const params = { projectId, collection: name };
  const restore = useRestoreCollection();
  const erase = useChange('eraseTrashedCollection', { changes: [...changes] });
  const bringBack = async () => {
    try {
      await restore.mutateAsync({ params, body: { deletedAt } });
      notify(`${name} is back, with ${countWords(records, 'record')}`);
    } catch (failure) {
      if ((failure as { code?: string }).code === 'conflict') onTaken(failure as Error);
      else notifyProblem(failure as Error);
    }
  };
  const eraseNow = async () => {
    const isSure = await confirm({
      title: `Erase ${name} for good?`,
      says: `Its ${countWords(records, 'record')} can not come back then. ${formatBytes(sizeBytes)} are free within minutes.`,
      action: 'Erase for good',
      isDangerous: true,
      typed: name,
    });
    if (!isSure) return;
    await erase.mutateAsync({ params, query: { deletedAt } });
    notify(`${name} is being erased`);
  };
  return (
    <tr>
      <th scope="row" className="mono">
        {name} {how === 'emptied' && <span className="badge">emptied</span>}
      </th>
      <td className="number">{formatCount(records)}</td>
      <td className="number">{formatBytes(sizeBytes)}</td>
      <td>
        <Time at={deletedAt} /> <span className="quiet-text">by {actorWords(by)}</span>
      </td>
      <td>
        <Time at={keptUntil} />
      </td>
      <td>
        <div className="row">
          <Takes name="restoreCollection">
            <button
              type="button"
              className="small"
              disabled={restore.isPending}
              onClick={() => void bringBack()}
            >
              Restore
            </button>
          </Takes>
          <MoreMenu
            label={`More of the deleted ${name}`}
            choices={[
              {
                label: 'Erase for good…',
                onSelect: () => void eraseNow().catch(notifyProblem),
                isDangerous: true,
                takes: 'eraseTrashedCollection',
              },
            ]}
          />
        </div>
      </td>
    </tr>
  );
};

interface RestoreAsProps {
  projectId: string;
  deleted: Deleted;
  why: Error;
  onClose(): void;
}

/** Where others have its name. */
const RestoreAs = ({ projectId, deleted: { name, deletedAt }, why, onClose }: RestoreAsProps) => {
  const restore = useRestoreCollection();
  const restoreAs = async (next: string) => {
    try {
      await restore.mutateAsync({
        params: { projectId, collection: name },
        body: { name: next, deletedAt },
      });
      onClose();
      notify(`${name} is back as ${next}`);
    } catch {
      // The modal says it.
    }
  };
  return (
    <RenameModal
      title={`Restore ${name} under another name`}
      name={name}
      isCode
      maxLength={63}
      action="Restore"
      hint="Or rename or delete the collection that has its name now."
      error={restore.error ?? (restore.isIdle ? why : null)}
      isPending={restore.isPending}
      onName={(next) => void restoreAs(next)}
      onClose={onClose}
    />
  );
};

/** Collections that were deleted or emptied and can come back; nothing where there are none. @param name of these alone */
export const DeletedCollections = ({ projectId, name }: { projectId: string; name?: string }) => {
  const input = { params: { projectId } };
  const { data, error, refetch } = useCall('listTrashedCollections', input);
  const [taken, setTaken] = useState<{ deleted: Deleted; why: Error }>();
  const items = data?.items.filter((item) => name === undefined || item.name === name) ?? [];
  if (items.length === 0) return <Problem error={error} again={() => void refetch()} />;
  return (
    <div className="section">
      <div className="spread">
        <h2>Deleted collections</h2>
        <ApiCall name="listTrashedCollections" input={input} />
      </div>
      <p className="quiet-text">
        Nobody finds them any more. Until they are erased they can come back as they were, and count
        for your quota.
      </p>
      <WideTable
        label="Deleted collections"
        columns={[
          'Name',
          { label: 'Records', isNumber: true },
          { label: 'Size', isNumber: true },
          'Deleted',
          'Erased',
          { label: 'Actions', isHidden: true },
        ]}
      >
        {items.map((deleted) => (
          <DeletedRow
            key={`${deleted.name} ${deleted.deletedAt}`}
            projectId={projectId}
            deleted={deleted}
            onTaken={(why) => setTaken({ deleted, why })}
          />
        ))}
      </WideTable>
      {taken && <RestoreAs projectId={projectId} {...taken} onClose={() => setTaken(undefined)} />}
    </div>
  );
};
