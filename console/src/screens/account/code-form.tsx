import { Field } from '../../parts/field.tsx';
import { Problem } from '../../parts/problem.tsx';

interface CodeFormProps {
  says: string;
  action: string;
  isDangerous?: boolean;
  change: { error: Error | null; isPending: boolean };
  onCode(code: string): void;
  onClose(): void;
}

/** For what takes a code of the app, or one for recovery. */
export const CodeForm = ({ says, action, isDangerous, change, onCode, onClose }: CodeFormProps) => (
  <form
    className="stack"
    onSubmit={(event) => {
      event.preventDefault();
      onCode(String(new FormData(event.currentTarget).get('code')));
    }}
  >
    <p className="quiet-text">{says}</p>
    <Field label="Code of the app, or a recovery code">
      {(props) => (
        <input {...props} name="code" autoComplete="one-time-code" maxLength={40} required />
      )}
    </Field>
    <Problem error={change.error} />
    <footer className="row end">
      <button type="button" onClick={onClose}>
        Cancel
      </button>
      <button
        type="submit"
        className={isDangerous ? 'danger' : 'primary'}
        disabled={change.isPending}
      >
        {action}
      </button>
    </footer>
  </form>
);
