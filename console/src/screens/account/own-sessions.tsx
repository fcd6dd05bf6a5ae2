import { useCall, useChange } from '../../api/queries.ts';
import { confirm } from '../../parts/dialogs/confirm.tsx';
import { Loading } from '../../parts/lists/loading.tsx';
import { SessionTable } from '../../parts/lists/session-table.tsx';
import { Problem } from '../../parts/problem.tsx';
import { notify, notifyProblem } from '../../parts/toasts.tsx';
import { ownProject } from './own-project.ts';

const changes = ['listMySessions'] as const;

/** Where the owner is signed in. */
export const OwnSessions = () => {
  const query = useCall('listMySessions', ownProject);
  const end = useChange('endMySession', { changes });
  const endOthers = useChange('endOtherSessions', { changes });
  const sessions = query.data?.items;
  const signOutOthers = async () => {
    const isSure = await confirm({
      title: 'Sign out everywhere else?',
      says: 'All sessions but this one end within 5 seconds.',
      action: 'End other sessions',
    });
    if (!isSure) return;
    await endOthers.mutateAsync(ownProject);
    notify('You are signed in here alone');
  };
  return (
    <section className="section" aria-label="Sessions">
      <div className="spread">
        <h2>Sessions</h2>
        {sessions && sessions.length > 1 && (
          <button
            type="button"
            className="small"
            onClick={() => void signOutOthers().catch(notifyProblem)}
          >
            End other sessions
          </button>
        )}
      </div>
      {query.error && <Problem error={query.error} again={() => void query.refetch()} />}
      {!sessions && !query.error && <Loading lines={2} />}
      {sessions && (
        <SessionTable
          label="Where you are signed in"
          sessions={sessions}
          isEnding={end.isPending}
          onEnd={(sessionId) =>
            end.mutate(
              { ...ownProject, params: { sessionId } },
              { onSuccess: () => notify('The session has ended'), onError: notifyProblem },
            )
          }
        />
      )}
    </section>
  );
};
