import { useNavigate, useSearch } from '@tanstack/react-router';
import { usePages } from '../../api/queries.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { Empty } from '../../parts/lists/empty.tsx';
import { Listed } from '../../parts/lists/listed.tsx';
import { Screen } from '../../parts/screen.tsx';
import { Finder } from './finder.tsx';
import { ProjectTable } from './project-table.tsx';
import './operator.css';

/** Those of all owners. */
export const AllProjectsScreen = () => {
  const { q } = useSearch({ from: '/operator/projects' });
  const navigate = useNavigate({ from: '/operator/projects' });
  const input = { query: { limit: 50, ...(q && { q }) } };
  const pages = usePages('listProjects', input, { as: 'operator', keepsLast: true });
  return (
    <Screen
      title="Projects"
      says="Those of all owners, newest first."
      actions={<ApiCall name="listProjects" input={input} as="operator" />}
    >
      <Finder
        label="Search by name or id"
        value={q ?? ''}
        onChange={(next) => void navigate({ search: next ? { q: next } : {}, replace: true })}
      />
      <Listed
        pages={pages}
        empty={
          <Empty title={q ? 'No such project' : 'No projects yet'}>
            {q ? 'No name and no id begins like this.' : 'What owners create stands here.'}
          </Empty>
        }
      >
        {(projects) => <ProjectTable projects={projects} showsOwner />}
      </Listed>
    </Screen>
  );
};
