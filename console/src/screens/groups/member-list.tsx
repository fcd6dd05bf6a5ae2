import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Item } from '../../api/operation-types.ts';
import { useChange, usePages } from '../../api/queries.ts';
import { confirm } from '../../parts/dialogs/confirm.tsx';
import { Listed } from '../../parts/lists/listed.tsx';
import { WideTable } from '../../parts/lists/wide-table.tsx';
import { Takes } from '../../parts/takes.tsx';
import { notify, notifyProblem } from '../../parts/toasts.tsx';
import { Time } from '../../parts/words/time.tsx';
import { roleNames } from './role-names.tsx';

type Member = Item<'listGroupMembers'>;

interface MemberRowProps {
  member: Member;
  projectId: string;
  groupId: string;
}

const reads = ['listGroupMembers', 'listGroupInvites'] as const;

const MemberRow = ({ member, projectId, groupId }: MemberRowProps) => {
  const { id, name, role, joinedAt } = member;
  const [text, setText] = useState(role);
  const update = useChange('updateGroupMember', { changes: reads });
  const remove = useChange('removeGroupMember', { changes: reads });
  const params = { groupId, userId: id };
  const who = name ?? 'This member';
  const setRole = () => {
    if (text === role) return;
    update.mutate(
      { project: projectId, params, body: { role: text } },
      {
        onSuccess: () => notify(`${who} is ${text} now`),
        onError: (error) => {
          setText(role);
          notifyProblem(error);
        },
      },
    );
  };
  const leave = async () => {
    const isSure = await confirm({
      title: `Remove ${name ?? 'this member'}?`,
      says: 'They read and change what is the group’s no more, within 5 seconds. Their invitations to others end. They come back by an invitation alone.',
      action: 'Remove member',
      isDangerous: true,
    });
    if (!isSure) return;
    remove.mutate(
      { project: projectId, params },
      { onSuccess: () => notify(`${who} is removed`), onError: notifyProblem },
    );
  };
  return (
    <tr>
      <td className="group-name cut">
        <Link to="/projects/$projectId/users/$userId" params={{ projectId, userId: id }}>
          {name ? <bdi>{name}</bdi> : <span className="mono">{id}</span>}
        </Link>
      </td>
      <td>
        <form
          className="row"
          onSubmit={(event) => {
            event.preventDefault();
            setRole();
          }}
        >
          <input
            className="member-role"
            aria-label={`Role of ${name ?? id}`}
            list={roleNames}
            value={text}
            maxLength={32}
            required
            onChange={({ target }) => setText(target.value)}
          />
          {text !== role && (
            <button type="submit" className="small" disabled={update.isPending}>
              Set
            </button>
          )}
        </form>
      </td>
      <td>
        <Time at={joinedAt} />
      </td>
      <td>
        <div className="row end">
          <button type="button" className="small" onClick={() => void leave()}>
            Remove
          </button>
        </div>
      </td>
    </tr>
  );
};

/** Who is in a group, and as what. */
export const MemberList = ({ projectId, groupId }: { projectId: string; groupId: string }) => {
  const pages = usePages('listGroupMembers', {
    project: projectId,
    params: { groupId },
    query: { limit: 100 },
  });
  return (
    <section className="section">
      <h2>Members</h2>
      <Listed
        pages={pages}
        empty={
          <p className="quiet-text">
            Nobody is in it yet. Invite the first as its owner, who can invite others then.
          </p>
        }
      >
        {(members) => (
          <Takes name="updateGroupMember">
            <WideTable
              label="Members"
              columns={['Name', 'Role', 'Joined', { label: 'Actions', isHidden: true }]}
            >
              {members.map((member) => (
                <MemberRow
                  key={`${member.id} ${member.role}`}
                  member={member}
                  projectId={projectId}
                  groupId={groupId}
                />
              ))}
            </WideTable>
          </Takes>
        )}
      </Listed>
    </section>
  );
};
