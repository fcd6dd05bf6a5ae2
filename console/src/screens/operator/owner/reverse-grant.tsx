import { type FormEvent, useState } from 'react';
import { useChange } from '../../../api/queries.ts';
import { Modal } from '../../../parts/dialogs/modal.tsx';
import { Field } from '../../../parts/field.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { notify } from '../../../parts/toasts.tsx';
import { formatCredits } from '../../../parts/words/numbers.ts';

const Form = ({ grantId, onClose }: { grantId: string; onClose(): void }) => {
  const reverse = useChange('reverseGrant', {
    as: 'operator',
    changes: ['getCredits', 'listTopSpenders'],
    onSuccess: ({ reversedMillicredits }) => {
      notify(`${formatCredits(reversedMillicredits)} credits were taken back`);
      onClose();
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const reason = String(new FormData(event.currentTarget).get('reason'));
    reverse.mutate({ params: { grantId }, body: { reason } });
  };
  return (
    <form className="stack" onSubmit={submit}>
      <p className="quiet-text">
        What is left of this grant is taken back, once. What was spent of it stays spent.
      </p>
      <Field label="Why" hint="The owner sees it.">
        {(props) => <input {...props} name="reason" maxLength={500} required />}
      </Field>
      <Problem error={reverse.error} />
      <footer className="row end">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" className="primary" disabled={reverse.isPending}>
          Take back
        </button>
      </footer>
    </form>
  );
};

/** For a grant that was a mistake. */
export const ReverseGrant = ({ grantId }: { grantId: string }) => {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Reverse…
      </button>
      {isOpen && (
        <Modal title="Reverse the grant" isOpen onClose={close}>
          <Form grantId={grantId} onClose={close} />
        </Modal>
      )}
    </>
  );
};
