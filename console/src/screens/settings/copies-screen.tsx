import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Item } from '../../api/operation-types.ts';
import { useChange, usePages } from '../../api/queries.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { confirm } from '../../parts/dialogs/confirm.tsx';
import { Empty } from '../../parts/lists/empty.tsx';
import { Listed } from '../../parts/lists/listed.tsx';
import { Takes } from '../../parts/takes.tsx';
import { notify, notifyProblem } from '../../parts/toasts.tsx';
import { useProjectId } from '../../parts/use-project-id.ts';
import { Time } from '../../parts/words/time.tsx';
import { CopyForm } from './copy-form.tsx';
import { Promote } from './promote.tsx';
import { SettingsFrame } from './settings-frame.tsx';

type Project = Item<'listProjects'>;

const Preview = ({ preview, projectId }: { preview: Project; projectId: string }) => {
  const { id, name, createdAt } = preview;
  const [isPromoting, setPromoting] = useState(false);
  const remove = useChange('deletePreview', { changes: ['listProjects'] });
  const erase = async () => {
    const isSure = await confirm({
      title: `Delete the preview ${name}?`,
      says: 'It goes for good, with all records and files in it. Your project stays as it is.',
      action: 'Delete preview',
      isDangerous: true,
    });
    if (!isSure) return;
    await remove.mutateAsync({ params: { projectId }, query: { preview: id } });
    notify(`${name} is deleted`);
  };
  return (
    <article className="card">
      <div className="spread">
        <h2>
          <Link to="/projects/$projectId" params={{ projectId: id }}>
            {name}
          </Link>
        </h2>
        <span className="mono quiet-text">{id}</span>
      </div>
      <p className="quiet-text">
        Made <Time at={createdAt} />
      </p>
      <div className="row">
        <Takes name="promotePreview">
          <button type="button" onClick={() => setPromoting(true)}>
            Promote…
          </button>
        </Takes>
        <Takes name="deletePreview">
          <button type="button" className="quiet" onClick={() => void erase().catch(notifyProblem)}>
            Delete…
          </button>
        </Takes>
      </div>
      {isPromoting && (
        <Promote projectId={projectId} preview={preview} onClose={() => setPromoting(false)} />
      )}
    </article>
  );
};

/** Other projects that begin as this one is now. */
export const CopiesScreen = () => {
  const projectId = useProjectId();
  const params = { projectId };
  const [making, setMaking] = useState<'copy' | 'preview'>();
  const pages = usePages('listProjects', { query: { limit: 100 } });
  const previews = {
    ...pages,
    items: pages.items?.filter(
      ({ previewOf, status }) => previewOf === projectId && status !== 'deleted',
    ),
  };
  return (
    <SettingsFrame
      projectId={projectId}
      title="Copies and previews"
      says="A preview is a copy beside the project in which you try changes; what it has set can then be promoted into the project. A copy is a project of its own."
      actions={
        <>
          <ApiCall name="createPreview" input={{ params, body: { name: 'Next version' } }} />
          <Takes name="copyProject">
            <button type="button" onClick={() => setMaking('copy')}>
              Copy project
            </button>
          </Takes>
          <Takes name="createPreview">
            <button type="button" className="primary" onClick={() => setMaking('preview')}>
              Create preview
            </button>
          </Takes>
        </>
      }
    >
      <Listed
        pages={previews}
        empty={
          <Empty
            title="No previews"
            snippet={`fetch('${location.origin}/api/runtime/${projectId}/db/todos', {
  headers: { 'Backlot-Preview': previewToken },
});`}
          >
            An app reaches a preview at the address of the project, with a token in a header. There
            are at most three.
          </Empty>
        }
      >
        {(found) => (
          <div className="tiles">
            {found.map((preview) => (
              <Preview key={preview.id} preview={preview} projectId={projectId} />
            ))}
          </div>
        )}
      </Listed>
      {making && (
        <CopyForm projectId={projectId} kind={making} onClose={() => setMaking(undefined)} />
      )}
    </SettingsFrame>
  );
};
