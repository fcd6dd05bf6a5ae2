import { useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { call } from '../../api/call.ts';
import { useCall } from '../../api/queries.ts';
import { WideTable } from '../../parts/lists/wide-table.tsx';
import { formatCount, formatCredits } from '../../parts/words/numbers.ts';
import { dayBefore } from './days.ts';
import { Share } from './share.tsx';

/** So many are asked about, the newest; each is a call. */
const mostProjects = 20;

/** Which of the owner's projects the credits went to. Nothing where there is one. */
export const ProjectShares = ({ projectId, days }: { projectId: string; days: number }) => {
  const projects = useCall('listProjects', { query: { limit: mostProjects } });
  const active = (projects.data?.items ?? []).filter(({ status }) => status !== 'deleted');
  const isOfSeveral = active.length > 1;
  const uses = useQueries({
    queries: active.map(({ id }) => {
      const input = { params: { projectId: id }, query: { from: dayBefore(days - 1) } };
      return {
        queryKey: ['getUsage', input],
        queryFn: ({ signal }: { signal: AbortSignal }) => call('getUsage', input, { signal }),
        enabled: isOfSeveral,
      };
    }),
  });
  if (!isOfSeveral) return null;
  const rows = active
    .map((project, index) => ({ project, use: uses[index]?.data }))
    .sort((a, b) => (b.use?.millicredits ?? 0) - (a.use?.millicredits ?? 0));
  const whole = rows.reduce((sum, { use }) => sum + (use?.millicredits ?? 0), 0);
  return (
    <section className="section" aria-labelledby="by-project">
      <h2 id="by-project">Your projects</h2>
      <WideTable
        label="Credits by project"
        columns={[
          'Project',
          { label: 'Calls', isNumber: true },
          { label: 'Credits', isNumber: true },
          { label: 'Share', isHidden: true },
        ]}
      >
        {rows.map(({ project: { id, name }, use }) => (
          <tr key={id}>
            <td className="project-name">
              {id === projectId ? (
                <strong>{name}</strong>
              ) : (
                <Link to="/projects/$projectId/usage" params={{ projectId: id }}>
                  {name}
                </Link>
              )}
            </td>
            <td className="number">{use ? formatCount(use.calls) : '…'}</td>
            <td className="number">{use ? formatCredits(use.millicredits) : '…'}</td>
            <Share part={use?.millicredits ?? 0} whole={whole} />
          </tr>
        ))}
      </WideTable>
      {projects.data?.hasMore && (
        <p className="quiet-text">The {mostProjects} newest of your projects.</p>
      )}
    </section>
  );
};
