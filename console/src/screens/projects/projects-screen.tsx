import { Link, useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { Item } from '../../api/operation-types.ts';
import { useCall, usePages } from '../../api/queries.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { useCommands } from '../../parts/commands.ts';
import { Empty } from '../../parts/lists/empty.tsx';
import { Listed } from '../../parts/lists/listed.tsx';
import { SearchBox } from '../../parts/lists/search-box.tsx';
import { WideTable } from '../../parts/lists/wide-table.tsx';
import { Screen } from '../../parts/screen.tsx';
import { CopyButton } from '../../parts/snippet.tsx';
import { formatCredits } from '../../parts/words/numbers.ts';
import { Time } from '../../parts/words/time.tsx';
import { HomeFrame } from '../../shell/home-frame.tsx';
import { CreateProject } from './create-project.tsx';
import { ProjectMenu } from './project-menu.tsx';

type Project = Item<'listProjects'>;

const statusBadge = { active: 'good', paused: 'warn', deleted: 'bad' } as const;

const ProjectRow = ({ project }: { project: Project }) => {
  const { id, name, status, createdAt, baseUrl, previewOf, role } = project;
  return (
    <tr>
      <td className="named">
        <div className="row">
          {status === 'deleted' ? (
            name
          ) : (
            <Link to="/projects/$projectId" params={{ projectId: id }}>
              {name}
            </Link>
          )}
          {status !== 'active' && <span className={`badge ${statusBadge[status]}`}>{status}</span>}
          {role && role !== 'owner' && <span className="badge">{role}</span>}
          {previewOf && <span className="badge accent">preview of {previewOf}</span>}
        </div>
      </td>
      <td className="mono">{id}</td>
      <td>
        <Time at={createdAt} />
      </td>
      <td>
        <div className="row end">
          <CopyButton text={baseUrl} label="Copy address" />
          <ProjectMenu project={project} />
        </div>
      </td>
    </tr>
  );
};

const firstProject = () => `curl -s ${location.origin}/api/platform/projects \\
  -H "Authorization: Bearer $TOKEN" --json '{"name":"Todo list"}'`;

/** Where an owner begins: all projects, and what credits are left. */
export const ProjectsScreen = () => {
  const [search, setSearch] = useState('');
  const [isCreating, setCreating] = useState(false);
  const navigate = useNavigate();
  const pages = usePages('listProjects', { query: { limit: 100 } });
  const credits = useCall('getCredits', { query: { limit: 1 } });
  const create = () => setCreating(true);
  useCommands(
    useMemo(
      () => [{ group: 'Projects', label: 'Create a project', run: () => setCreating(true) }],
      [],
    ),
  );
  const isFound = ({ id, name }: Project) =>
    `${name} ${id}`.toLowerCase().includes(search.trim().toLowerCase());
  return (
    <HomeFrame>
      <Screen
        title="Projects"
        says={
          credits.data && (
            <>{formatCredits(credits.data.balanceMillicredits)} credits left for all of them.</>
          )
        }
        actions={
          <>
            <ApiCall name="listProjects" input={{ query: { limit: 100 } }} />
            <button type="button" className="primary" onClick={create}>
              Create project
            </button>
          </>
        }
      >
        <Listed
          pages={pages}
          empty={
            <Empty
              title="Create your first project"
              snippet={firstProject()}
              action={
                <button type="button" className="primary" onClick={create}>
                  Create project
                </button>
              }
            >
              A project is the backend of one app: its users, records, files, mails and payments, at
              an address of its own.
            </Empty>
          }
        >
          {(projects) => (
            <>
              {projects.length > 5 && (
                <SearchBox label="Search projects" value={search} onChange={setSearch} />
              )}
              <WideTable
                label="Projects"
                columns={['Name', 'Id', 'Created', { label: 'Actions', isHidden: true }]}
              >
                {projects.filter(isFound).map((project) => (
                  <ProjectRow key={project.id} project={project} />
                ))}
              </WideTable>
            </>
          )}
        </Listed>
      </Screen>
      <CreateProject
        isOpen={isCreating}
        onClose={() => setCreating(false)}
        onCreated={(projectId) =>
          void navigate({ to: '/projects/$projectId', params: { projectId } })
        }
      />
    </HomeFrame>
  );
};
