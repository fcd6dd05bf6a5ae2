import { type FormEvent, useState } from 'react';
import type { Item } from '../../api/operation-types.ts';
import { useChange } from '../../api/queries.ts';
import { confirm } from '../../parts/dialogs/confirm.tsx';
import { Modal } from '../../parts/dialogs/modal.tsx';
import { Field } from '../../parts/field.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Takes } from '../../parts/takes.tsx';
import { notify } from '../../parts/toasts.tsx';
import { TryPrompt } from './try-prompt.tsx';

interface PromptFormProps {
  projectId: string;
  prompt: Item<'listPrompts'> | undefined;
  onClose(): void;
}

/** Words a prompt, and tries it before it is saved. */
export const PromptForm = ({ projectId, prompt, onClose }: PromptFormProps) => {
  const [name, setName] = useState(prompt?.name ?? '');
  const [system, setSystem] = useState(prompt?.system ?? '');
  const set = useChange('setPrompt', {
    changes: ['listPrompts'],
    onSuccess: () => {
      notify(`${name} is saved`);
      onClose();
    },
  });
  const close = async () => {
    const isDirty = system !== (prompt?.system ?? '');
    const isSure =
      !isDirty ||
      (await confirm({
        title: 'Close without saving?',
        says: 'What you have written here is not saved yet, and would be gone.',
        action: 'Close',
        isDangerous: true,
      }));
    if (isSure) onClose();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    set.mutate({ params: { projectId, name }, body: { system } });
  };
  return (
    <Modal
      title={prompt ? `Edit ${prompt.name}` : 'Create a prompt'}
      isOpen
      onClose={() => void close()}
      isWide
    >
      <form className="stack" id="prompt-form" onSubmit={submit}>
        {!prompt && (
          <Field label="Name" hint="Small letters, digits, _ and -.">
            {(props) => (
              <input
                {...props}
                className="code"
                maxLength={63}
                placeholder="tutor"
                required
                value={name}
                onChange={({ target }) => setName(target.value)}
              />
            )}
          </Field>
        )}
        <Field label="System text" hint="At most 8 KB. It goes before all messages of a call.">
          {(props) => (
            <textarea
              {...props}
              className="tall"
              required
              value={system}
              onChange={({ target }) => setSystem(target.value)}
            />
          )}
        </Field>
      </form>
      <TryPrompt projectId={projectId} system={system} />
      <Problem error={set.error} />
      <footer className="row end">
        <button type="button" onClick={() => void close()}>
          Cancel
        </button>
        <Takes name="setPrompt">
          <button type="submit" form="prompt-form" className="primary" disabled={set.isPending}>
            Save prompt
          </button>
        </Takes>
      </footer>
    </Modal>
  );
};
