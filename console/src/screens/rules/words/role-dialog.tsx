import { Modal } from '../../../parts/dialogs/modal.tsx';
import { Field } from '../../../parts/field.tsx';

interface RoleDialogProps {
  kind: 'role' | 'group';
  roles: readonly string[];
  onClose(): void;
  /** Told `role:staff` or `group:admin`. */
  onChosen(word: string): void;
}

const texts = {
  role: {
    title: 'Users with a role',
    hint: 'Roles are given to users by you alone: on their page, or by the API.',
    placeholder: 'staff',
  },
  group: {
    title: 'Members with a role in the record’s group',
    hint: 'What a member is in their group, such as owner or admin.',
    placeholder: 'admin',
  },
};

export const RoleDialog = ({ kind, roles, onClose, onChosen }: RoleDialogProps) => {
  const { title, hint, placeholder } = texts[kind];
  return (
    <Modal title={title} isOpen onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          onChosen(`${kind}:${String(new FormData(event.currentTarget).get('role'))}`);
        }}
      >
        <Field label="Role" hint={hint}>
          {(props) => (
            <input
              {...props}
              name="role"
              list="known-roles"
              pattern="[a-z][a-z0-9_\-]{0,31}"
              title="1 to 32 of a-z, 0-9, _ and -, a letter first"
              placeholder={placeholder}
              required
            />
          )}
        </Field>
        <datalist id="known-roles">
          {(kind === 'role' ? roles : ['owner', 'admin', 'member']).map((role) => (
            <option key={role} value={role} />
          ))}
        </datalist>
        <footer className="row end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary">
            Add role
          </button>
        </footer>
      </form>
    </Modal>
  );
};
