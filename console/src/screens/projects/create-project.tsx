import { useChange } from '../../api/queries.ts';
import { Modal } from '../../parts/dialogs/modal.tsx';
import { Field } from '../../parts/field.tsx';
import { Problem } from '../../parts/problem.tsx';

interface CreateProjectProps {
  isOpen: boolean;
  onClose(): void;
  onCreated(projectId: string): void;
}

export const CreateProject = ({ isOpen, onClose, onCreated }: CreateProjectProps) => {
  const create = useChange('createProject', {
    changes: ['listProjects'],
    onSuccess: ({ id }) => onCreated(id),
  });
  return (
    <Modal title="Create a project" isOpen={isOpen} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate({
            body: { name: String(new FormData(event.currentTarget).get('name')) },
          });
        }}
      >
        <Field
          label="Name"
          hint="Mails and payment pages show it to your users. It can be changed."
        >
          {(props) => (
            <input {...props} name="name" maxLength={100} placeholder="Todo list" required />
          )}
        </Field>
        <Problem error={create.error} />
        <footer className="row end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={create.isPending}>
            Create project
          </button>
        </footer>
      </form>
    </Modal>
  );
};
