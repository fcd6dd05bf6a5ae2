import { Link } from '@tanstack/react-router';
import type { Item } from '../../api/operation-types.ts';
import { WideTable } from '../../parts/lists/wide-table.tsx';
import { Time } from '../../parts/words/time.tsx';
import { OwnerLink, Status } from './links.tsx';

interface ProjectTableProps {
  projects: readonly Item<'listProjects'>[];
  /** Where they are of several. */
  showsOwner?: boolean;
}

export const ProjectTable = ({ projects, showsOwner = false }: ProjectTableProps) => (
  <WideTable
    label="Projects"
    columns={['Name', 'Id', ...(showsOwner ? ['Owner'] : []), 'State', 'Created']}
  >
    {projects.map(({ id, name, ownerId, status, createdAt }) => (
      <tr key={id}>
        <td className="operator-name">
          {status === 'deleted' ? (
            name
          ) : (
            <Link to="/operator/projects/$projectId" params={{ projectId: id }}>
              {name}
            </Link>
          )}
        </td>
        <td className="mono">{id}</td>
        {showsOwner && (
          <td>
            <OwnerLink ownerId={ownerId} />
          </td>
        )}
        <td>
          <Status status={status} />
        </td>
        <td>
          <Time at={createdAt} />
        </td>
      </tr>
    ))}
  </WideTable>
);
