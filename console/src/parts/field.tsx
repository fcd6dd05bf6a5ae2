import { type ReactNode, useId } from 'react';

interface ControlProps {
  id: string;
  'aria-describedby'?: string;
  'aria-invalid'?: true;
}

interface FieldProps {
  label: ReactNode;
  /** A sentence below it. */
  hint?: ReactNode;
  /** What is wrong with the value. */
  problem?: string | undefined;
  children(props: ControlProps): ReactNode;
}

/** A label with its control: `<Field label="Name">{(props) => <input {...props} />}</Field>`. */
export const Field = ({ label, hint, problem, children }: FieldProps) => {
  const id = useId();
  const describedBy = [hint && `${id}hint`, problem && `${id}problem`].filter(Boolean).join(' ');
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        ...(describedBy && { 'aria-describedby': describedBy }),
        ...(problem && { 'aria-invalid': true }),
      })}
      {hint && (
        <div className="hint" id={`${id}hint`}>
          {hint}
        </div>
      )}
      {problem && (
        <div className="problem" id={`${id}problem`} role="alert">
          {problem}
        </div>
      )}
    </div>
  );
};
