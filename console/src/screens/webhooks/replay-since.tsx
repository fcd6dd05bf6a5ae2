import type { FormEvent } from 'react';
import { useChange } from '../../api/queries.ts';
import { Modal } from '../../parts/dialogs/modal.tsx';
import { Field } from '../../parts/field.tsx';
import { Problem } from '../../parts/problem.tsx';
import { notify } from '../../parts/toasts.tsx';
import { countWords } from '../../parts/words/numbers.ts';

interface ReplaySinceProps {
  projectId: string;
  name: string;
  onClose(): void;
}

/** Sends all again that has ended since a time. */
export const ReplaySince = ({ projectId, name, onClose }: ReplaySinceProps) => {
  const replay = useChange('replayWebhook', {
    changes: ['getWebhook', 'listWebhookDeliveries'],
    onSuccess: ({ queued }) => {
      notify(`${countWords(queued, 'event')} ${queued === 1 ? 'is' : 'are'} sent again`);
      onClose();
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const time = new Date(String(new FormData(event.currentTarget).get('since')));
    replay.mutate({ params: { projectId, name }, body: { since: time.toISOString() } });
  };
  return (
    <Modal title="Send again since" isOpen onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <p className="quiet-text">
          Every event since then that was taken or given up goes out once more, under its old id: a
          receiver that drops what it has seen takes no harm. The log reaches back seven days.
        </p>
        <Field label="Since" hint="In your time zone.">
          {(props) => <input {...props} name="since" type="datetime-local" required />}
        </Field>
        <Problem error={replay.error} />
        <footer className="row end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={replay.isPending}>
            Send again
          </button>
        </footer>
      </form>
    </Modal>
  );
};
