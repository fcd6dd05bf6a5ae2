import { useState } from 'react';
import type { Item } from '../../api/operation-types.ts';
import { useChange, usePages } from '../../api/queries.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { DeleteButton } from '../../parts/lists/delete-button.tsx';
import { Empty } from '../../parts/lists/empty.tsx';
import { Listed } from '../../parts/lists/listed.tsx';
import { Screen } from '../../parts/screen.tsx';
import { Takes } from '../../parts/takes.tsx';
import { notify, notifyProblem } from '../../parts/toasts.tsx';
import { useProjectId } from '../../parts/use-project-id.ts';
import { Time } from '../../parts/words/time.tsx';
import { inOrder } from '../../parts/words/visible-text.ts';
import { AiTabs } from './ai-tabs.tsx';
import { PromptForm } from './prompt-form.tsx';
import './ai.css';

type Prompt = Item<'listPrompts'>;

const changes = ['listPrompts'] as const;

interface PromptCardProps {
  projectId: string;
  prompt: Prompt;
  onEdit(): void;
}

const PromptCard = ({ projectId, prompt, onEdit }: PromptCardProps) => {
  const { name, system, updatedAt } = prompt;
  const params = { projectId, name };
  const set = useChange('setPrompt', { changes });
  const remove = useChange('deletePrompt', { changes });
  const removeIt = async () => {
    await remove.mutateAsync({ params });
    notify(`${name} is deleted: calls that name it are refused`, {
      undo: () => set.mutateAsync({ params, body: { system } }).catch(notifyProblem),
    });
  };
  return (
    <article className="card" aria-label={name}>
      <div className="spread">
        <h2 className="mono">{name}</h2>
        <div className="row">
          <span className="quiet-text">
            changed <Time at={updatedAt} />
          </span>
          <Takes name="setPrompt">
            <button type="button" className="small" onClick={onEdit}>
              Edit and try
            </button>
          </Takes>
          <DeleteButton
            takes="deletePrompt"
            name={name}
            isPending={remove.isPending}
            onDelete={removeIt}
          />
        </div>
      </div>
      <p className="prompt-text quiet-text">{inOrder(system)}</p>
    </article>
  );
};

/** System texts of the owner, which calls name. */
export const PromptsScreen = () => {
  const projectId = useProjectId();
  const params = { projectId };
  const [edited, setEdited] = useState<Prompt | 'new'>();
  const pages = usePages('listPrompts', { params });
  const create = (
    <Takes name="setPrompt">
      <button type="button" className="primary" onClick={() => setEdited('new')}>
        Create prompt
      </button>
    </Takes>
  );
  return (
    <Screen
      title="Prompts"
      says="A system text that calls name, and that nobody who calls can read or replace."
      actions={
        <>
          <ApiCall
            name="setPrompt"
            input={{ params: { projectId, name: 'tutor' }, body: { system: 'You teach chess.' } }}
          />
          {create}
        </>
      }
    >
      <AiTabs />
      <Listed
        pages={pages}
        empty={
          <Empty
            title="No prompts yet"
            action={create}
            snippet="const { text } = await client.ai.generate({ prompt: 'tutor', messages });"
          >
            With a prompt of yours the model stays with what your app is for, whatever visitors
            write. A call names it:
          </Empty>
        }
      >
        {(prompts) => (
          <div className="stack">
            {prompts.map((prompt) => (
              <PromptCard
                key={prompt.name}
                projectId={projectId}
                prompt={prompt}
                onEdit={() => setEdited(prompt)}
              />
            ))}
          </div>
        )}
      </Listed>
      {edited && (
        <PromptForm
          projectId={projectId}
          prompt={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
        />
      )}
    </Screen>
  );
};
