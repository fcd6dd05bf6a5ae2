import { useState } from 'react';
import { useChange, usePages } from '../../../api/queries.ts';
import { ApiCall } from '../../../parts/api-call.tsx';
import { Empty } from '../../../parts/lists/empty.tsx';
import { Listed } from '../../../parts/lists/listed.tsx';
import { WideTable } from '../../../parts/lists/wide-table.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { Takes } from '../../../parts/takes.tsx';
import { notify } from '../../../parts/toasts.tsx';
import { Time } from '../../../parts/words/time.tsx';
import { visibleText } from '../../../parts/words/visible-text.ts';
import { DeletedCollections } from '../deleted-collections.tsx';
import { actorWords } from '../record/history-tab.tsx';
import { dataIn } from '../record/place.ts';

const shownCharacters = 160;

const preview = (record: Readonly<Record<string, unknown>>) =>
  visibleText(JSON.stringify(dataIn(record)).slice(0, shownCharacters));

/** Records of a collection that were deleted in the last days. */
export const TrashView = ({ projectId, name }: { projectId: string; name: string }) => {
  const input = { params: { projectId }, query: { collection: name, limit: 50 } };
  const pages = usePages('listTrash', input);
  const [error, setError] = useState<Error | null>(null);
  const restore = useChange('restoreRecord', {
    changes: ['listTrash', 'listCollections', 'listRecords'],
  });
  const bringBack = async (id: string, seq: number) => {
    setError(null);
    try {
      await restore.mutateAsync({
        project: projectId,
        params: { collection: name, id },
        body: { seq },
      });
      notify('The record is back');
    } catch (failure) {
      setError(failure as Error);
    }
  };
  return (
    <div className="inside">
      <div className="spread">
        <p className="quiet-text">
          What was deleted in the last days, newest first. A restored record has its id, owner and
          time again.
        </p>
        <ApiCall name="listTrash" input={input} />
      </div>
      <Problem error={error} />
      <DeletedCollections projectId={projectId} name={name} />
      <Listed
        pages={pages}
        empty={
          <Empty title="Nothing was deleted lately">
            Records that anybody deletes from {name} can be brought back from here for some days.
          </Empty>
        }
      >
        {(items) => (
          <WideTable
            label="Deleted records"
            columns={['Record', 'Deleted', 'By', { label: 'Actions', isHidden: true }]}
          >
            {items.map(({ record, seq, deletedAt, by }) => (
              <tr key={`${record.id} ${seq}`}>
                <td className="mono">
                  <bdi className="wraps">{preview(record)}</bdi>
                </td>
                <td>
                  <Time at={deletedAt} />
                </td>
                <td>{actorWords(by)}</td>
                <td>
                  <Takes name="restoreRecord">
                    <button
                      type="button"
                      className="small"
                      disabled={restore.isPending}
                      onClick={() => void bringBack(record.id, seq)}
                    >
                      Restore
                    </button>
                  </Takes>
                </td>
              </tr>
            ))}
          </WideTable>
        )}
      </Listed>
    </div>
  );
};
