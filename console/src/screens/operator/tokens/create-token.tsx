import type { Answer, Input } from '../../../api/operation-types.ts';
import { useChange } from '../../../api/queries.ts';
import { Modal } from '../../../parts/dialogs/modal.tsx';
import { Field } from '../../../parts/field.tsx';
import { Problem } from '../../../parts/problem.tsx';

type Scope = Input<'createOperatorToken'>['body']['scope'];

const scopeWords: Readonly<Record<Scope, string>> = {
  read: 'sees everything, records of users included, and changes nothing',
  support: 'also helps owners and their users: ends sessions, resets factors, restores projects',
  admin: 'everything, tokens of operators included',
};
const scopes = Object.keys(scopeWords) as Scope[];

interface CreateTokenProps {
  onClose(): void;
  onCreated(token: Answer<'createOperatorToken'>): void;
}

export const CreateToken = ({ onClose, onCreated }: CreateTokenProps) => {
  const create = useChange('createOperatorToken', {
    as: 'operator',
    changes: ['listOperatorTokens'],
    onSuccess: onCreated,
  });
  const submit = (form: HTMLFormElement) => {
    const fields = new FormData(form);
    const day = String(fields.get('expiresAt'));
    create.mutate({
      body: {
        name: String(fields.get('name')),
        scope: fields.get('scope') as Scope,
        ...(day && { expiresAt: new Date(`${day}T23:59:59`).toISOString() }),
      },
    });
  };
  return (
    <Modal title="Create an operator’s token" isOpen onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          submit(event.currentTarget);
        }}
      >
        <Field
          label="Name"
          hint="Of one person or program: all that is done with the token is noted under it. Small letters, digits, “.”, “_” and “-”."
        >
          {(props) => <input {...props} name="name" maxLength={63} placeholder="ann" required />}
        </Field>
        <fieldset className="plain stack close">
          <legend className="label">What it may do</legend>
          {scopes.map((scope) => (
            <label key={scope} className="check">
              <input type="radio" name="scope" value={scope} defaultChecked={scope === 'read'} />
              <span>
                <span className="mono">{scope}</span> {scopeWords[scope]}
              </span>
            </label>
          ))}
        </fieldset>
        <Field label="Last day" hint="Without one it ends in 90 days; at most a year ahead.">
          {(props) => <input {...props} name="expiresAt" type="date" />}
        </Field>
        <Problem error={create.error} />
        <footer className="row end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={create.isPending}>
            Create token
          </button>
        </footer>
      </form>
    </Modal>
  );
};
