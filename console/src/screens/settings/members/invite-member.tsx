import { givenRoles } from 'virtual:contract';
import type { GivenRole } from '@backlot/contract';
import { useChange } from '../../../api/queries.ts';
import { Modal } from '../../../parts/dialogs/modal.tsx';
import { Field } from '../../../parts/field.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { notify } from '../../../parts/toasts.tsx';
import { roleSays } from '../../../parts/words/role-says.ts';

export const InviteMember = ({ projectId, onClose }: { projectId: string; onClose(): void }) => {
  const invite = useChange('inviteMember', {
    changes: ['listMemberInvitations'],
    onSuccess: ({ email }) => {
      notify(`The invitation goes to ${email}`);
      onClose();
    },
  });
  return (
    <Modal title="Invite somebody" isOpen onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          const fields = new FormData(event.currentTarget);
          const role = String(fields.get('role')) as GivenRole;
          invite.mutate({
            params: { projectId },
            body: { email: String(fields.get('email')), role },
          });
        }}
      >
        <Field
          label="E-mail address"
          hint="A link goes there, good once and for 7 days, for the account of that address alone."
        >
          {(props) => (
            <input
              {...props}
              name="email"
              type="email"
              maxLength={254}
              autoComplete="off"
              required
            />
          )}
        </Field>
        <fieldset className="plain stack close">
          <legend className="label">Role</legend>
          {givenRoles.map((role) => (
            <label key={role} className="check">
              <input type="radio" name="role" value={role} defaultChecked={role === 'viewer'} />
              <span>
                <span className="mono">{role}</span> {roleSays[role]}
              </span>
            </label>
          ))}
        </fieldset>
        <Problem error={invite.error} />
        <footer className="row end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={invite.isPending}>
            Send invitation
          </button>
        </footer>
      </form>
    </Modal>
  );
};
