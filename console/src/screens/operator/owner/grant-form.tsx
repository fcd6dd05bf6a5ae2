import { type FormEvent, useState } from 'react';
import { useChange } from '../../../api/queries.ts';
import { confirm } from '../../../parts/dialogs/confirm.tsx';
import { Field } from '../../../parts/field.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { notify } from '../../../parts/toasts.tsx';
import { countWords } from '../../../parts/words/numbers.ts';

const empty = { credits: '', reason: '', expires: '' };

/** Gives credits; asked first, because what is spent of them can not be taken back. */
export const GrantForm = ({ ownerId }: { ownerId: string }) => {
  const [values, setValues] = useState(empty);
  const grant = useChange('createGrant', {
    as: 'operator',
    changes: ['getCredits'],
    onSuccess: () => {
      setValues(empty);
      notify('The credits are granted');
    },
  });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const credits = Number(values.credits);
    const isSure = await confirm({
      title: `Grant ${countWords(credits, 'credit')}?`,
      says: 'The owner can spend them at once. What is spent can not be taken back.',
      action: 'Grant credits',
    });
    if (!isSure) return;
    grant.mutate({
      body: {
        ownerId,
        credits,
        reason: values.reason,
        ...(values.expires && { expiresAt: new Date(values.expires).toISOString() }),
      },
    });
  };
  const set = (name: keyof typeof empty) => (event: { target: { value: string } }) =>
    setValues({ ...values, [name]: event.target.value });
  return (
    <form className="stack close" onSubmit={(event) => void submit(event)}>
      <div className="row grant">
        <Field label="Credits">
          {(props) => (
            <input
              {...props}
              type="number"
              min={1}
              max={1_000_000_000}
              step={1}
              required
              value={values.credits}
              onChange={set('credits')}
            />
          )}
        </Field>
        <Field label="Reason">
          {(props) => (
            <input
              {...props}
              required
              maxLength={500}
              value={values.reason}
              onChange={set('reason')}
            />
          )}
        </Field>
        <Field label="They end on (optional)">
          {(props) => (
            <input {...props} type="date" value={values.expires} onChange={set('expires')} />
          )}
        </Field>
        <button type="submit" disabled={grant.isPending}>
          Grant…
        </button>
      </div>
      <Problem error={grant.error} />
    </form>
  );
};
