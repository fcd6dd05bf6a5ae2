import type { Item } from '../../../api/operation-types.ts';
import { useChange, usePages } from '../../../api/queries.ts';
import { confirm } from '../../../parts/dialogs/confirm.tsx';
import { Listed } from '../../../parts/lists/listed.tsx';
import { WideTable } from '../../../parts/lists/wide-table.tsx';
import { notify, notifyProblem } from '../../../parts/toasts.tsx';
import { Time } from '../../../parts/words/time.tsx';

type Invitation = Item<'listMemberInvitations'>;

const InvitationRow = ({ projectId, item }: { projectId: string; item: Invitation }) => {
  const { id, email, role, sentAt, expiresAt } = item;
  const params = { projectId, invitationId: id };
  const resend = useChange('resendMemberInvitation', { changes: ['listMemberInvitations'] });
  const remove = useChange('revokeMemberInvitation', { changes: ['listMemberInvitations'] });
  const sendAgain = async () => {
    await resend.mutateAsync({ params });
    notify(`A new link goes to ${email}; the former one is good no more`);
  };
  const revoke = async () => {
    const isSure = await confirm({
      title: `Take back the invitation of ${email}?`,
      says: 'The link in the mail is good no more. You can invite them again.',
      action: 'Revoke invitation',
      isDangerous: true,
    });
    if (!isSure) return;
    await remove.mutateAsync({ params });
    notify(`The invitation of ${email} is taken back`);
  };
  return (
    <tr>
      <td className="named">{email}</td>
      <td>
        <span className="badge">{role}</span>
      </td>
      <td>
        <Time at={sentAt} />
      </td>
      <td>
        <Time at={expiresAt} />
      </td>
      <td>
        <div className="row end">
          <button
            type="button"
            className="small"
            aria-label={`Resend to ${email}`}
            disabled={resend.isPending}
            onClick={() => void sendAgain().catch(notifyProblem)}
          >
            Resend
          </button>
          <button
            type="button"
            className="quiet small"
            aria-label={`Revoke the invitation of ${email}`}
            disabled={remove.isPending}
            onClick={() => void revoke().catch(notifyProblem)}
          >
            Revoke
          </button>
        </div>
      </td>
    </tr>
  );
};

/** Those that nobody has followed yet. */
export const InvitationTable = ({ projectId }: { projectId: string }) => {
  const pages = usePages('listMemberInvitations', { params: { projectId } });
  return (
    <Listed pages={pages} empty={<p className="quiet-text">Nobody is invited right now.</p>}>
      {(items) => (
        <WideTable
          label="Open invitations"
          columns={['Address', 'Role', 'Sent', 'Ends', { label: 'Actions', isHidden: true }]}
        >
          {items.map((item) => (
            <InvitationRow key={item.id} projectId={projectId} item={item} />
          ))}
        </WideTable>
      )}
    </Listed>
  );
};
