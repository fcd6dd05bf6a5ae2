import { Field } from '../field.tsx';
import { Problem } from '../problem.tsx';
import { Modal } from './modal.tsx';

interface RenameModalProps {
  title: string;
  name: string;
  /** Whether names are such as code has them. */
  isCode?: boolean;
  maxLength: number;
  hint?: string;
  /** On the button: "Rename" unless stated. */
  action?: string;
  error: Error | null;
  isPending: boolean;
  onName(name: string): void;
  onClose(): void;
}

/** Asks for another name, and keeps what was typed where it was refused. */
export const RenameModal = ({
  title,
  name,
  isCode,
  maxLength,
  hint,
  action = 'Rename',
  ...on
}: RenameModalProps) => (
  <Modal title={title} isOpen onClose={on.onClose}>
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        on.onName(String(new FormData(event.currentTarget).get('name')).trim());
      }}
    >
      <Field label="Name" {...(hint && { hint })}>
        {(props) => (
          <input
            {...props}
            name="name"
            className={isCode ? 'code' : undefined}
            defaultValue={name}
            maxLength={maxLength}
            autoComplete="off"
            required
          />
        )}
      </Field>
      <Problem error={on.error} />
      <footer className="row end">
        <button type="button" onClick={on.onClose}>
          Cancel
        </button>
        <button type="submit" className="primary" disabled={on.isPending}>
          {action}
        </button>
      </footer>
    </form>
  </Modal>
);
