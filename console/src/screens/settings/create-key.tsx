import { keyScopes } from 'virtual:contract';
import type { Answer } from '../../api/operation-types.ts';
import { useChange } from '../../api/queries.ts';
import { Modal } from '../../parts/dialogs/modal.tsx';
import { Field } from '../../parts/field.tsx';
import { Problem } from '../../parts/problem.tsx';

const scopeWords = {
  read: 'reads everything, and spends no credits',
  write: 'changes all data, and makes calls that cost credits',
  admin: 'sets up the project: rules, settings, users',
} as const;

interface CreateKeyProps {
  projectId: string;
  onClose(): void;
  onCreated(key: Answer<'createKey'>): void;
}

export const CreateKey = ({ projectId, onClose, onCreated }: CreateKeyProps) => {
  const create = useChange('createKey', { changes: ['listKeys'], onSuccess: onCreated });
  const submit = (form: HTMLFormElement) => {
    const fields = new FormData(form);
    const scopes = keyScopes.filter((scope) => fields.has(scope));
    const day = String(fields.get('expiresAt'));
    create.mutate({
      params: { projectId },
      body: {
        name: String(fields.get('name')),
        scopes: [...scopes],
        ...(day && { expiresAt: new Date(`${day}T23:59:59`).toISOString() }),
      },
    });
  };
  return (
    <Modal title="Create a key" isOpen onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          submit(event.currentTarget);
        }}
      >
        <Field
          label="Name"
          hint="Where it is used, so that you know what stops when you revoke it."
        >
          {(props) => (
            <input {...props} name="name" maxLength={100} placeholder="Nightly export" required />
          )}
        </Field>
        <fieldset className="plain stack close">
          <legend className="label">What it may do</legend>
          {keyScopes.map((scope) => (
            <label key={scope} className="check">
              <input type="checkbox" name={scope} defaultChecked={scope === 'read'} />
              <span>
                <span className="mono">{scope}</span> {scopeWords[scope]}
              </span>
            </label>
          ))}
        </fieldset>
        <Field label="Last day" hint="Without one the key has no end.">
          {(props) => <input {...props} name="expiresAt" type="date" />}
        </Field>
        <Problem error={create.error} />
        <footer className="row end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={create.isPending}>
            Create key
          </button>
        </footer>
      </form>
    </Modal>
  );
};
