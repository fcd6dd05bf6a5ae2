import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { usePages } from '../../api/queries.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { useCommands } from '../../parts/commands.ts';
import { Empty } from '../../parts/lists/empty.tsx';
import { Listed } from '../../parts/lists/listed.tsx';
import { WideTable } from '../../parts/lists/wide-table.tsx';
import { Screen } from '../../parts/screen.tsx';
import { CopyButton } from '../../parts/snippet.tsx';
import { Takes } from '../../parts/takes.tsx';
import { Time } from '../../parts/words/time.tsx';
import { CreateGroup } from './create-group.tsx';
import './groups.css';

const firstGroup = (projectId: string) =>
  `import { createClient } from '${location.origin}/sdk.js';

const client = createClient('${location.origin}/api/runtime/${projectId}');
const team = await client.groups.create('Bakery');
await client.groups.invite(team.id, { email: 'ada@example.org' });`;

/** The teams of this project's users. */
export const GroupsScreen = () => {
  const { projectId } = useParams({ from: '/signed-in/projects/$projectId/groups' });
  const [isCreating, setCreating] = useState(false);
  const input = { project: projectId, query: { limit: 100 } };
  const pages = usePages('listGroups', input);
  const navigate = useNavigate();
  useCommands(
    useMemo(() => [{ group: 'Groups', label: 'Create a group', run: () => setCreating(true) }], []),
  );
  const create = (
    <Takes name="createGroup">
      <button type="button" className="primary" onClick={() => setCreating(true)}>
        Create group
      </button>
    </Takes>
  );
  return (
    <Screen
      title="Groups"
      says="Teams of your users. Rules of collections that name a group open its records to its members."
      actions={
        <>
          <ApiCall name="listGroups" input={input} />
          {create}
        </>
      }
    >
      <Listed
        pages={pages}
        empty={
          <Empty title="No groups yet" snippet={firstGroup(projectId)} action={create}>
            Users make them in your app and invite others by mail. You can make one here, too.
          </Empty>
        }
      >
        {(groups) => (
          <WideTable label="Groups" columns={['Name', 'Made', 'Id']}>
            {groups.map(({ id, name, createdAt }) => (
              <tr key={id}>
                <td className="group-name cut">
                  <Link
                    to="/projects/$projectId/groups/$groupId"
                    params={{ projectId, groupId: id }}
                  >
                    <bdi>{name}</bdi>
                  </Link>
                </td>
                <td>
                  <Time at={createdAt} />
                </td>
                <td>
                  <div className="row nowrap">
                    <span className="mono">{id}</span>
                    <CopyButton text={id} />
                  </div>
                </td>
              </tr>
            ))}
          </WideTable>
        )}
      </Listed>
      <CreateGroup
        projectId={projectId}
        isOpen={isCreating}
        onClose={() => setCreating(false)}
        onCreated={(groupId) =>
          void navigate({
            to: '/projects/$projectId/groups/$groupId',
            params: { projectId, groupId },
          })
        }
      />
    </Screen>
  );
};
