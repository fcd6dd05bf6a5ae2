import { givenRoles } from 'virtual:contract';
import type { GivenRole } from '@backlot/contract';
import type { Item } from '../../../api/operation-types.ts';
import { useChange } from '../../../api/queries.ts';
import { roleWords } from '../../../api/roles.ts';
import { confirm } from '../../../parts/dialogs/confirm.tsx';
import { notify, notifyProblem } from '../../../parts/toasts.tsx';
import { Time } from '../../../parts/words/time.tsx';

interface MemberRowProps {
  projectId: string;
  member: Item<'listMembers'>;
  isYou: boolean;
  /** Whether one may change and remove members. */
  canManage: boolean;
}

/** One who works on the project; oneself leaves it elsewhere. */
export const MemberRow = ({ projectId, member, isYou, canManage }: MemberRowProps) => {
  const { userId, email, role, since } = member;
  const name = email ?? 'an account that is gone';
  const params = { projectId, userId };
  const change = useChange('setMemberRole', {
    changes: ['listMembers', 'listMemberInvitations', 'getProject'],
  });
  const remove = useChange('removeMember', { changes: ['listMembers', 'listMemberInvitations'] });
  const setRole = async (next: GivenRole) => {
    if (isYou) {
      const isSure = await confirm({
        title: `Be ${roleWords[next]} from now on?`,
        says: 'You can not take that back: another admin, or the owner, has to.',
        action: 'Change my role',
      });
      if (!isSure) return;
    }
    const give = (given: GivenRole) => change.mutateAsync({ params, body: { role: given } });
    await give(next);
    notify(`${name} is ${roleWords[next]} now`, {
      ...(!isYou && { undo: () => give(role as GivenRole).catch(notifyProblem) }),
    });
  };
  const sendAway = async () => {
    const isSure = await confirm({
      title: `Remove ${name}?`,
      says: 'They are refused within seconds, and invitations that they sent end. Keys that they made stay good: revoke those under Keys.',
      action: 'Remove member',
      isDangerous: true,
    });
    if (!isSure) return;
    await remove.mutateAsync({ params });
    notify(`${name} is removed`);
  };
  const canChange = canManage && role !== 'owner';
  return (
    <tr>
      <td className="named">
        {name} {isYou && <span className="badge accent">you</span>}
      </td>
      <td>
        {canChange ? (
          <select
            aria-label={`Role of ${name}`}
            value={role}
            disabled={change.isPending}
            onChange={({ target }) => void setRole(target.value as GivenRole).catch(notifyProblem)}
          >
            {givenRoles.map((given) => (
              <option key={given}>{given}</option>
            ))}
          </select>
        ) : (
          <span className="badge">{role}</span>
        )}
      </td>
      <td>
        <Time at={since} />
      </td>
      <td>
        <div className="row end">
          {canChange && !isYou && (
            <button
              type="button"
              className="small"
              aria-label={`Remove ${name}`}
              disabled={remove.isPending}
              onClick={() => void sendAway().catch(notifyProblem)}
            >
              Remove
            </button>
          )}
        </div>
      </td>
    </tr>
  );
};
