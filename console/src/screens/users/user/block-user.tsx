import { useState } from 'react';
import type { Answer } from '../../../api/operation-types.ts';
import { Modal } from '../../../parts/dialogs/modal.tsx';
import { Field } from '../../../parts/field.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { notify, notifyProblem } from '../../../parts/toasts.tsx';
import { userLabel } from '../../../parts/words/user-label.ts';
import { useBlock } from './use-block.ts';

interface BlockUserProps {
  user: Answer<'getUser'>;
  projectId: string;
  onClose(): void;
}

const dayMs = 24 * 3600 * 1000;
const ends = { '': 'For good', '1': 'For a day', '7': 'For a week', '30': 'For 30 days' };

/** Blocks a user, with what they are told and when it ends. */
export const BlockUser = ({ user, projectId, onClose }: BlockUserProps) => {
  const [days, setDays] = useState('');
  const { change, isPending, error } = useBlock(projectId, user.id);
  const block = async (reason: string, until: string) => {
    await change({ blocked: true, ...(reason && { reason }), ...(until && { until }) });
    onClose();
    notify(`${userLabel(user)} is blocked`, {
      undo: () => change({ blocked: false }).catch(notifyProblem),
    });
  };
  return (
    <Modal title={`Block ${userLabel(user)}`} isOpen onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          const reason = String(new FormData(event.currentTarget).get('reason')).trim();
          const until = days && new Date(Date.now() + Number(days) * dayMs).toISOString();
          void block(reason, until).catch(() => undefined);
        }}
      >
        <p className="quiet-text">
          They read what anyone reads, and change nothing, within 5 seconds. Their account and
          records stay. Nobody signs up with their address meanwhile.
        </p>
        <Field label="Reason" hint="It is shown to them. May be left empty.">
          {(props) => <input {...props} name="reason" maxLength={500} />}
        </Field>
        <Field label="How long">
          {(props) => (
            <select {...props} value={days} onChange={({ target }) => setDays(target.value)}>
              {Object.entries(ends).map(([value, words]) => (
                <option key={value} value={value}>
                  {words}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Problem error={error} />
        <footer className="row end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="danger" disabled={isPending}>
            Block user
          </button>
        </footer>
      </form>
    </Modal>
  );
};
