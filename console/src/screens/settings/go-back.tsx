import { useEffect, useState } from 'react';
import { call } from '../../api/call.ts';
import type { Answer } from '../../api/operation-types.ts';
import { queryClient, useCall } from '../../api/queries.ts';
import { Modal } from '../../parts/dialogs/modal.tsx';
import { Loading } from '../../parts/lists/loading.tsx';
import { Problem } from '../../parts/problem.tsx';
import { notify } from '../../parts/toasts.tsx';
import { countWords } from '../../parts/words/numbers.ts';

type Undo = Answer<'undoChanges'>;

const lookEveryMs = 500;

/** Begun at once, and followed until it has ended. */
const useUndo = (projectId: string) => {
  const [begun, setBegun] = useState<Undo>();
  const [error, setError] = useState<Error | null>(null);
  const id = begun?.id ?? '';
  const isRunning = begun?.state === 'running';
  const { data: found } = useCall(
    'getUndo',
    { params: { projectId, undoId: id } },
    { enabled: isRunning, everyMs: lookEveryMs },
  );
  const undo = found?.id === id ? found : begun;
  useEffect(() => {
    if (undo && undo.state !== 'running') setBegun(undo);
  }, [undo]);
  const begin = async (restorePoint: string, dryRun: boolean) => {
    setError(null);
    try {
      setBegun(
        await call('undoChanges', { params: { projectId }, body: { restorePoint, dryRun } }),
      );
    } catch (failure) {
      setError(failure as Error);
    }
  };
  return { undo, error, begin };
};

const Counts = ({ undo }: { undo: Undo }) => (
  <dl className="facts">
    <dt>Come back</dt>
    <dd>
      {countWords(undo.created, 'record')}
      {undo.collections.map(
        ({ collection, records }) => `, ${collection} with ${countWords(records, 'record')}`,
      )}
    </dd>
    <dt>As they were</dt>
    <dd>{countWords(undo.updated, 'record')}</dd>
    <dt>Deleted, as newer</dt>
    <dd>{countWords(undo.deleted, 'record')}</dd>
    <dt>Left alone</dt>
    <dd>{countWords(undo.conflictCount, 'record')}</dd>
  </dl>
);

interface GoBackProps {
  projectId: string;
  restorePoint: string;
  onClose(): void;
}

/** First counts what going back would do, then does it. It can be left: the work goes on. */
export const GoBack = ({ projectId, restorePoint, onClose }: GoBackProps) => {
  const { undo, error, begin } = useUndo(projectId);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each restore point
  useEffect(() => void begin(restorePoint, true), [restorePoint]);
  const isRunning = undo?.state === 'running';
  const isCounted = undo?.dryRun === true && undo.state === 'done';
  const isDone = undo?.dryRun === false && undo.state === 'done';
  useEffect(() => {
    if (!isDone) return;
    void queryClient.invalidateQueries();
    notify(`The records are as at ${restorePoint}`);
  }, [isDone, restorePoint]);
  return (
    <Modal title={`Go back to ${restorePoint}`} isOpen onClose={onClose}>
      <p className="quiet-text">
        What was changed since is taken back. What others change while it runs is left alone.
      </p>
      {(!undo || isRunning) && !error && <Loading lines={3} />}
      {undo && undo.state === 'done' && <Counts undo={undo} />}
      {undo?.notUndone.map(({ collection, how, records, at, reason }) => (
        <div key={`${collection} ${at}`} className="callout warn">
          The collection {collection} was {how} meanwhile: its {countWords(records, 'record')} do
          not come back
          {reason === 'conflict' && '; another one has its name, and the trash has them still'}.
        </div>
      ))}
      <Problem error={error ?? (undo?.error ? new Error(undo.error) : null)} />
      <footer>
        <button type="button" onClick={onClose}>
          {isDone ? 'Close' : 'Cancel'}
        </button>
        {isCounted && undo.changes + undo.collections.length > 0 && (
          <button type="button" className="danger" onClick={() => void begin(restorePoint, false)}>
            Take back {countWords(undo.changes + undo.collections.length, 'change')}
          </button>
        )}
      </footer>
    </Modal>
  );
};
