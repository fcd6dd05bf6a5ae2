import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useChange } from '../../api/queries.ts';
import { Modal } from '../../parts/dialogs/modal.tsx';
import { ShownOnce } from '../../parts/dialogs/shown-once.tsx';
import { Field } from '../../parts/field.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Snippet } from '../../parts/snippet.tsx';
import { notify } from '../../parts/toasts.tsx';

const parts = [
  ['records', 'Records, with the users and groups whose they are'],
  ['files', 'Files'],
  ['passwords', 'Passwords: users sign in to it as they do here'],
] as const;

interface CopyFormProps {
  projectId: string;
  kind: 'copy' | 'preview';
  onClose(): void;
}

/** Makes a copy or a preview; of a preview it shows the token, once. */
export const CopyForm = ({ projectId, kind, onClose }: CopyFormProps) => {
  const navigate = useNavigate();
  const [token, setToken] = useState<string>();
  const copy = useChange('copyProject', {
    changes: ['listProjects'],
    onSuccess: ({ project }) => {
      notify(`${project.name} is made`);
      void navigate({ to: '/projects/$projectId', params: { projectId: project.id } });
    },
  });
  const preview = useChange('createPreview', {
    changes: ['listProjects'],
    onSuccess: ({ token }) => setToken(token),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const chosen = Object.fromEntries(parts.map(([part]) => [part, fields.has(part)]));
    const body = { name: String(fields.get('name')), ...chosen };
    (kind === 'copy' ? copy : preview).mutate({ params: { projectId }, body });
  };
  if (token)
    return (
      <ShownOnce
        title="The preview is made"
        secret={token}
        says="Whoever has it reaches the preview through your project."
        onClose={onClose}
      >
        <p className="quiet-text">An app sends it with each call:</p>
        <Snippet text={`'Backlot-Preview': '${token}'`} />
      </ShownOnce>
    );
  return (
    <Modal
      title={kind === 'copy' ? 'Copy the project' : 'Create a preview'}
      isOpen
      onClose={onClose}
    >
      <form className="stack" onSubmit={submit}>
        <Field label="Name">
          {(props) => (
            <input
              {...props}
              name="name"
              maxLength={100}
              placeholder={kind === 'copy' ? 'Copy for tests' : 'Next version'}
              required
            />
          )}
        </Field>
        <fieldset className="plain stack close">
          <legend className="label">What goes along, besides all that is set</legend>
          {parts.map(([part, words]) => (
            <label key={part} className="check">
              <input type="checkbox" name={part} />
              <span>{words}</span>
            </label>
          ))}
        </fieldset>
        <Problem error={copy.error ?? preview.error} />
        <footer className="row end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={copy.isPending || preview.isPending}>
            {kind === 'copy' ? 'Copy project' : 'Create preview'}
          </button>
        </footer>
      </form>
    </Modal>
  );
};
