import type { BacklotError } from '@backlot/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { call } from '../../api/call.ts';
import { Modal } from '../../parts/dialogs/modal.tsx';
import { Field } from '../../parts/field.tsx';
import { Problem } from '../../parts/problem.tsx';
import { notify, notifyProblem } from '../../parts/toasts.tsx';

interface InviteUserProps {
  projectId: string;
  isOpen: boolean;
  onClose(): void;
  onInvited(userId: string): void;
}

/** That nobody knows: the mailed link sets another. */
const randomPassword = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(24)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');

const invite = async (projectId: string, email: string, name: string) => {
  const { user } = await call('signUp', {
    project: projectId,
    body: { email, password: randomPassword(), ...(name !== '' && { name }) },
  });
  // The account is there; its page can send the link again.
  await call('forgotPassword', { project: projectId, body: { email } }).then(
    () => notify(`A link to choose a password was mailed to ${user.email}`),
    notifyProblem,
  );
  return user.id;
};

/** Makes an account, and mails its user a link to choose a password. */
export const InviteUser = ({ projectId, isOpen, onClose, onInvited }: InviteUserProps) => {
  const client = useQueryClient();
  const inviting = useMutation<string, BacklotError, FormData>({
    mutationFn: (form) =>
      invite(projectId, String(form.get('email')), String(form.get('name')).trim()),
    onSuccess: onInvited,
    onSettled: () =>
      Promise.all(
        ['listUsers', 'listSignUps'].map((read) => client.invalidateQueries({ queryKey: [read] })),
      ),
  });
  return (
    <Modal title="Invite a user" isOpen={isOpen} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          inviting.mutate(new FormData(event.currentTarget));
        }}
      >
        <p className="quiet-text">
          An account is made at once, whoever may sign up otherwise. Its user gets a mail with a
          link to choose a password, which is good for an hour and verifies the address.
        </p>
        <Field label="E-mail address">
          {(props) => <input {...props} name="email" type="email" maxLength={254} required />}
        </Field>
        <Field label="Name" hint="May be left empty.">
          {(props) => <input {...props} name="name" maxLength={100} />}
        </Field>
        <Problem error={inviting.error} />
        <footer className="row end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={inviting.isPending}>
            Invite user
          </button>
        </footer>
      </form>
    </Modal>
  );
};
