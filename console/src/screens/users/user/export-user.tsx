import { useEffect, useRef, useState } from 'react';
import type { Answer } from '../../../api/operation-types.ts';
import { Modal } from '../../../parts/dialogs/modal.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { saveFile } from '../../../parts/save-file.ts';
import { notify } from '../../../parts/toasts.tsx';
import { countWords } from '../../../parts/words/numbers.ts';
import { userLabel } from '../../../parts/words/user-label.ts';
import { exportLines } from './export-lines.ts';

interface ExportUserProps {
  user: Answer<'getUser'>;
  projectId: string;
  onClose(): void;
}

/** Gathers all of one user into a file; closing the dialog stops it. */
export const ExportUser = ({ user, projectId, onClose }: ExportUserProps) => {
  const [count, setCount] = useState<number>();
  const [error, setError] = useState<Error>();
  const stop = useRef<AbortController>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const run = async () => {
    const controller = new AbortController();
    stop.current = controller;
    setError(undefined);
    setCount(0);
    try {
      const { signal } = controller;
      const all = await exportLines(projectId, user.id, { signal, onLines: setCount });
      saveFile(`${userLabel(user)}.ndjson`, all, 'application/x-ndjson');
      notify(`All of ${userLabel(user)} is in your downloads`);
      onClose();
    } catch (failure) {
      if (controller.signal.aborted) return;
      setCount(undefined);
      setError(failure as Error);
    }
  };
  const isRunning = count !== undefined;
  return (
    <Modal title={`Export all of ${userLabel(user)}`} isOpen onClose={onClose}>
      <p className="quiet-text">
        Account, profile, sessions, groups, records, files (their names, not their content), mails
        of 30 days and payments: a file with a line of JSON for each.
      </p>
      <p className="quiet-text">
        The same by the command:{' '}
        <code>
          backlot users export {projectId} {user.id}
        </code>
      </p>
      {isRunning && (
        <p role="status">{count === 0 ? 'Begins…' : `${countWords(count, 'line')} so far`}</p>
      )}
      <Problem error={error} />
      <footer>
        <button type="button" onClick={onClose}>
          {isRunning ? 'Stop' : 'Cancel'}
        </button>
        <button type="button" className="primary" disabled={isRunning} onClick={() => void run()}>
          Export everything
        </button>
      </footer>
    </Modal>
  );
};
