import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useCall, useChange } from '../../api/queries.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { confirm } from '../../parts/dialogs/confirm.tsx';
import { MoreMenu } from '../../parts/menu.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Screen } from '../../parts/screen.tsx';
import { CopyButton } from '../../parts/snippet.tsx';
import { notify, notifyProblem } from '../../parts/toasts.tsx';
import { Time } from '../../parts/words/time.tsx';
import { Invitations } from './invitations.tsx';
import { MemberList } from './member-list.tsx';
import { RenameGroup } from './rename-group.tsx';
import './groups.css';

/** One group: who is in it as what, and who is invited. */
export const GroupScreen = () => {
  const { projectId, groupId } = useParams({
    from: '/signed-in/projects/$projectId/groups/$groupId',
  });
  const [isRenaming, setRenaming] = useState(false);
  const navigate = useNavigate();
  const input = { project: projectId, params: { groupId } };
  const { data: group, error, refetch } = useCall('getGroup', input);
  const remove = useChange('deleteGroup', { changes: ['listGroups'] });
  const erase = async () => {
    const isSure = await confirm({
      title: `Delete ${group?.name ?? 'this group'}?`,
      says: 'Its members lose what they could read and change as such. Its records and files stay, and belong to no group any more. It can not be undone.',
      action: 'Delete group',
      isDangerous: true,
    });
    if (!isSure) return;
    remove.mutate(input, {
      onSuccess: () => {
        notify('The group is deleted');
        void navigate({ to: '/projects/$projectId/groups', params: { projectId } });
      },
      onError: notifyProblem,
    });
  };
  return (
    <Screen
      title={group?.name ?? 'Group'}
      says={
        <span className="row">
          {group && (
            <span>
              Made <Time at={group.createdAt} />.
            </span>
          )}
          <span className="mono">{groupId}</span>
          <CopyButton text={groupId} label="Copy id" />
        </span>
      }
      actions={
        <>
          <Link to="/projects/$projectId/groups" params={{ projectId }} className="button quiet">
            All groups
          </Link>
          <ApiCall name="getGroup" input={input} />
          <MoreMenu
            label="More"
            choices={[
              { label: 'Rename…', onSelect: () => setRenaming(true), takes: 'updateGroup' },
              {
                label: 'Its files',
                onSelect: () =>
                  void navigate({
                    to: '/projects/$projectId/files',
                    params: { projectId },
                    search: { group: groupId },
                  }),
              },
              {
                label: 'Delete…',
                onSelect: () => void erase(),
                isDangerous: true,
                takes: 'deleteGroup',
              },
            ]}
          >
            Do…
          </MoreMenu>
        </>
      }
    >
      <Problem error={error} again={() => void refetch()} />
      <MemberList projectId={projectId} groupId={groupId} />
      <Invitations projectId={projectId} groupId={groupId} />
      {isRenaming && (
        <RenameGroup
          projectId={projectId}
          groupId={groupId}
          name={group?.name ?? ''}
          onClose={() => setRenaming(false)}
        />
      )}
    </Screen>
  );
};
