import { givenRoles } from 'virtual:contract';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useCall, useChange, usePages } from '../../../api/queries.ts';
import { useRole, whyNot } from '../../../api/roles.ts';
import { useSession } from '../../../api/session.ts';
import { ApiCall } from '../../../parts/api-call.tsx';
import { confirm } from '../../../parts/dialogs/confirm.tsx';
import { Listed } from '../../../parts/lists/listed.tsx';
import { WideTable } from '../../../parts/lists/wide-table.tsx';
import { notify, notifyProblem } from '../../../parts/toasts.tsx';
import { useProjectId } from '../../../parts/use-project-id.ts';
import { roleSays } from '../../../parts/words/role-says.ts';
import { SettingsFrame } from '../settings-frame.tsx';
import { InvitationTable } from './invitation-table.tsx';
import { InviteMember } from './invite-member.tsx';
import { MemberRow } from './member-row.tsx';

const RoleWords = () => (
  <ul className="quiet-text" aria-label="What each role may">
    {givenRoles.map((role) => (
      <li key={role}>{roleSays[role]}</li>
    ))}
  </ul>
);

const LeaveButton = ({ projectId }: { projectId: string }) => {
  const navigate = useNavigate();
  const leave = useChange('leaveProject', { changes: ['listProjects'] });
  const go = async () => {
    const isSure = await confirm({
      title: 'Leave this project?',
      says: 'You see nothing of it any more, until somebody invites you again.',
      action: 'Leave project',
      isDangerous: true,
    });
    if (!isSure) return;
    await leave.mutateAsync({ params: { projectId } });
    await navigate({ to: '/' });
    notify('You have left the project');
  };
  return (
    <button type="button" disabled={leave.isPending} onClick={() => void go().catch(notifyProblem)}>
      Leave project…
    </button>
  );
};

/** Who works on a project beside its owner, and who is invited to. */
export const MembersScreen = () => {
  const projectId = useProjectId();
  const params = { projectId };
  const [isInviting, setInviting] = useState(false);
  const session = useSession();
  const yourId = session.state === 'in' ? session.user.id : undefined;
  const role = useRole();
  const previewOf = useCall('getProject', { params }).data?.previewOf;
  const refusal = whyNot(role, 'inviteMember');
  const canManage = role !== undefined && !refusal && !previewOf;
  const members = usePages('listMembers', { params });
  return (
    <SettingsFrame
      projectId={projectId}
      title="Members"
      says="Who works on this project, each with an account of their own. Their calls count against its limits and cost its owner."
      actions={
        <>
          <ApiCall
            name="inviteMember"
            input={{ params, body: { email: 'ada@example.org', role: 'editor' } }}
          />
          {role !== undefined && role !== 'owner' && !previewOf && (
            <LeaveButton projectId={projectId} />
          )}
          {canManage && (
            <button type="button" className="primary" onClick={() => setInviting(true)}>
              Invite somebody
            </button>
          )}
        </>
      }
    >
      {previewOf && (
        <div className="callout info">
          A preview has the members of its project.{' '}
          <Link to="/projects/$projectId/settings/members" params={{ projectId: previewOf }}>
            Change them there
          </Link>
          .
        </div>
      )}
      {refusal && <div className="callout info">To invite or change members: {refusal}</div>}
      <Listed pages={members} empty={<p className="quiet-text">Nobody is a member.</p>}>
        {(items) => (
          <WideTable
            label="Members"
            columns={['Address', 'Role', 'Since', { label: 'Actions', isHidden: true }]}
          >
            {items.map((member) => (
              <MemberRow
                key={member.userId}
                projectId={projectId}
                member={member}
                isYou={member.userId === yourId}
                canManage={canManage}
              />
            ))}
          </WideTable>
        )}
      </Listed>
      <RoleWords />
      {canManage && (
        <section className="stack" aria-label="Invitations">
          <h2>Invitations</h2>
          <InvitationTable projectId={projectId} />
        </section>
      )}
      {isInviting && <InviteMember projectId={projectId} onClose={() => setInviting(false)} />}
    </SettingsFrame>
  );
};
