import { useState } from 'react';
import { useChange, usePages } from '../../api/queries.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { confirm } from '../../parts/dialogs/confirm.tsx';
import { Empty } from '../../parts/lists/empty.tsx';
import { Listed } from '../../parts/lists/listed.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Takes } from '../../parts/takes.tsx';
import { notify, notifyProblem } from '../../parts/toasts.tsx';
import { useProjectId } from '../../parts/use-project-id.ts';
import { Time } from '../../parts/words/time.tsx';
import { GoBack } from './go-back.tsx';
import { SettingsFrame } from './settings-frame.tsx';

/** Names for states of all records, to which one can go back. */
export const RestorePointsScreen = () => {
  const projectId = useProjectId();
  const params = { projectId };
  const [chosen, setChosen] = useState<string>();
  const pages = usePages('listRestorePoints', { params });
  const create = useChange('createRestorePoint', {
    changes: ['listRestorePoints'],
    onSuccess: ({ name }) => notify(`${name} is kept`),
  });
  const remove = useChange('deleteRestorePoint', { changes: ['listRestorePoints'] });
  const forget = async (name: string) => {
    const isSure = await confirm({
      title: `Forget ${name}?`,
      says: 'Records stay as they are. The name is gone; the history of each record is kept for as long as before.',
      action: 'Forget restore point',
    });
    if (isSure) await remove.mutateAsync({ params: { projectId, name } });
  };
  return (
    <SettingsFrame
      projectId={projectId}
      title="Restore points"
      says="A name for the state of all records now. Going back to it takes back what was changed since, record by record, and can itself be taken back."
      actions={
        <ApiCall name="createRestorePoint" input={{ params, body: { name: 'before-import' } }} />
      }
    >
      <Takes name="createRestorePoint">
        <form
          className="row"
          onSubmit={(event) => {
            event.preventDefault();
            const form = event.currentTarget;
            const name = String(new FormData(form).get('name'));
            create.mutate({ params, body: { name } }, { onSuccess: () => form.reset() });
          }}
        >
          <input
            name="name"
            className="search-box"
            aria-label="Name of a new restore point"
            placeholder="before-import"
            pattern="[A-Za-z0-9][A-Za-z0-9_.\-]{0,62}"
            title="Letters, digits, _, . and -, up to 63"
            required
          />
          <button type="submit" className="primary" disabled={create.isPending}>
            Keep the state of now
          </button>
        </form>
      </Takes>
      <Problem error={create.error} />
      <Listed
        pages={pages}
        empty={
          <Empty title="No restore points">
            Make one before an import, a migration or an experiment. There are at most 50.
          </Empty>
        }
      >
        {(points) => (
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Kept</th>
                <th scope="col">
                  <span className="visually-hidden">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {points.map(({ name, createdAt }) => (
                <tr key={name}>
                  <td className="mono">{name}</td>
                  <td>
                    <Time at={createdAt} />
                  </td>
                  <td>
                    <div className="row end">
                      <Takes name="undoChanges">
                        <button type="button" className="small" onClick={() => setChosen(name)}>
                          Go back…
                        </button>
                      </Takes>
                      <Takes name="deleteRestorePoint">
                        <button
                          type="button"
                          className="quiet small"
                          aria-label={`Forget ${name}`}
                          onClick={() => void forget(name).catch(notifyProblem)}
                        >
                          Forget
                        </button>
                      </Takes>
                    </div>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Listed>
      {chosen && (
        <GoBack projectId={projectId} restorePoint={chosen} onClose={() => setChosen(undefined)} />
      )}
    </SettingsFrame>
  );
};
