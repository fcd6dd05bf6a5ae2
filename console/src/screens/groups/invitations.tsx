import { useRef } from 'react';
import { useCall, useChange } from '../../api/queries.ts';
import { Field } from '../../parts/field.tsx';
import { Loading } from '../../parts/lists/loading.tsx';
import { WideTable } from '../../parts/lists/wide-table.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Takes } from '../../parts/takes.tsx';
import { notify, notifyProblem } from '../../parts/toasts.tsx';
import { Time } from '../../parts/words/time.tsx';
import { RoleNames, roleNames } from './role-names.tsx';

interface InvitationsProps {
  projectId: string;
  groupId: string;
}

const reads = ['listGroupInvites'] as const;

const InviteForm = ({ projectId, groupId }: InvitationsProps) => {
  const form = useRef<HTMLFormElement>(null);
  const invite = useChange('inviteToGroup', {
    changes: reads,
    onSuccess: ({ email }) => {
      form.current?.reset();
      notify(`An invitation is on its way to ${email}`);
    },
  });
  return (
    <form
      ref={form}
      className="stack close"
      onSubmit={(event) => {
        event.preventDefault();
        const data = new FormData(event.currentTarget);
        const body = { email: String(data.get('email')), role: String(data.get('role')) };
        invite.mutate({ project: projectId, params: { groupId }, body });
      }}
    >
      <div className="row invite-line">
        <Field label="E-mail address">
          {(props) => <input {...props} name="email" type="email" maxLength={254} required />}
        </Field>
        <Field label="Role">
          {(props) => (
            <input
              {...props}
              className="member-role"
              name="role"
              list={roleNames}
              defaultValue="member"
              maxLength={32}
              required
            />
          )}
        </Field>
        <button type="submit" disabled={invite.isPending}>
          Invite
        </button>
      </div>
      <p className="quiet-text">
        They get a mail with a link, good for a week. Owners and admins manage the group; what other
        roles mean is up to your app.
      </p>
      <Problem error={invite.error} />
    </form>
  );
};

/** Who is invited into a group and has not come yet. */
export const Invitations = ({ projectId, groupId }: InvitationsProps) => {
  const query = useCall('listGroupInvites', { project: projectId, params: { groupId } });
  const revoke = useChange('revokeGroupInvite', { changes: reads });
  const invites = query.data?.items;
  return (
    <section className="section">
      <h2>Invitations</h2>
      <RoleNames />
      <Takes name="inviteToGroup">
        <InviteForm projectId={projectId} groupId={groupId} />
      </Takes>
      {query.error && <Problem error={query.error} again={() => void query.refetch()} />}
      {!invites && !query.error && <Loading lines={2} />}
      {invites?.length === 0 && <p className="quiet-text">No invitation is open.</p>}
      {invites && invites.length > 0 && (
        <Takes name="revokeGroupInvite">
          <WideTable
            label="Open invitations"
            columns={['Address', 'Role', 'Sent', 'Ends', { label: 'Actions', isHidden: true }]}
          >
            {invites.map(({ id, email, role, createdAt, expiresAt }) => (
              <tr key={id}>
                <td className="group-name cut">{email}</td>
                <td>{role}</td>
                <td>
                  <Time at={createdAt} />
                </td>
                <td>
                  <Time at={expiresAt} />
                </td>
                <td>
                  <div className="row end">
                    <button
                      type="button"
                      className="small"
                      disabled={revoke.isPending}
                      onClick={() =>
                        revoke.mutate(
                          { project: projectId, params: { groupId, inviteId: id } },
                          {
                            onSuccess: () => notify(`The link of ${email} works no more`),
                            onError: notifyProblem,
                          },
                        )
                      }
                    >
                      Take back
                    </button>
                  </div>
                </td>
              </tr>
            ))}
          </WideTable>
        </Takes>
      )}
    </section>
  );
};
