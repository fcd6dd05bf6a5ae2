import { useState } from 'react';
import { useChange } from '../../api/queries.ts';
import { Modal } from '../../parts/dialogs/modal.tsx';
import { Field } from '../../parts/field.tsx';
import { Problem } from '../../parts/problem.tsx';
import { type Access, presetWords } from '../../parts/words/access-words.ts';

interface CreateCollectionProps {
  projectId: string;
  onClose(): void;
  onCreated(name: string): void;
}

const presets = Object.keys(presetWords) as (keyof typeof presetWords)[];

export const CreateCollection = ({ projectId, onClose, onCreated }: CreateCollectionProps) => {
  const [access, setAccess] = useState<keyof typeof presetWords>('members');
  const create = useChange('setCollectionAccess', {
    changes: ['listCollections'],
    onSuccess: ({ name }) => onCreated(name),
  });
  return (
    <Modal title="Create a collection" isOpen onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          const collection = String(new FormData(event.currentTarget).get('name')).trim();
          create.mutate({
            params: { projectId, collection },
            body: { access: access satisfies Access },
          });
        }}
      >
        <Field
          label="Name"
          hint="A letter, then letters, digits, _ and -. Your app’s code calls it by this name."
        >
          {(props) => (
            <input
              {...props}
              name="name"
              className="code"
              maxLength={63}
              pattern="[A-Za-z][A-Za-z0-9_\-]*"
              placeholder="todos"
              autoComplete="off"
              spellCheck={false}
              required
            />
          )}
        </Field>
        <Field label="Who may do what" hint={presetWords[access]}>
          {(props) => (
            <select
              {...props}
              value={access}
              onChange={({ target }) => setAccess(target.value as typeof access)}
            >
              {presets.map((preset) => (
                <option key={preset} value={preset}>
                  {preset}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Problem error={create.error} />
        <footer className="row end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={create.isPending}>
            Create collection
          </button>
        </footer>
      </form>
    </Modal>
  );
};
