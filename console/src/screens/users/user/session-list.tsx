import { useCall, useChange } from '../../../api/queries.ts';
import { confirm } from '../../../parts/dialogs/confirm.tsx';
import { Loading } from '../../../parts/lists/loading.tsx';
import { SessionTable } from '../../../parts/lists/session-table.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { notify, notifyProblem } from '../../../parts/toasts.tsx';
import { countWords } from '../../../parts/words/numbers.ts';

interface SessionListProps {
  projectId: string;
  userId: string;
}

const reads = ['listUserSessions', 'exportUser'] as const;

/** Where a user is signed in, and how to end it. */
export const SessionList = ({ projectId, userId }: SessionListProps) => {
  const params = { projectId, userId };
  const query = useCall('listUserSessions', { params });
  const end = useChange('endUserSession', { changes: reads });
  const endAll = useChange('endUserSessions', { changes: reads });
  const sessions = query.data?.items;
  const signOutAll = async () => {
    const isSure = await confirm({
      title: 'Sign them out everywhere?',
      says: 'All their sessions end within 5 seconds. They can sign in again; blocking keeps them from changing anything.',
      action: 'End all sessions',
    });
    if (!isSure) return;
    endAll.mutate(
      { params },
      { onSuccess: () => notify('They are signed out everywhere'), onError: notifyProblem },
    );
  };
  return (
    <section className="section" aria-label="Sessions">
      <div className="spread">
        <h2>Sessions</h2>
        {sessions && sessions.length > 0 && (
          <button type="button" className="small" onClick={() => void signOutAll()}>
            End all sessions
          </button>
        )}
      </div>
      {query.error && <Problem error={query.error} again={() => void query.refetch()} />}
      {!sessions && !query.error && <Loading lines={2} />}
      {sessions?.length === 0 && <p className="quiet-text">They are signed in nowhere.</p>}
      {sessions && sessions.length > 0 && (
        <SessionTable
          label={countWords(sessions.length, 'session')}
          sessions={sessions}
          isEnding={end.isPending}
          onEnd={(sessionId) =>
            end.mutate(
              { params: { ...params, sessionId } },
              { onSuccess: () => notify('The session has ended'), onError: notifyProblem },
            )
          }
        />
      )}
    </section>
  );
};
