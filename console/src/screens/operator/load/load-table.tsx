import { Link } from '@tanstack/react-router';
import type { Item } from '../../../api/operation-types.ts';
import { WideTable } from '../../../parts/lists/wide-table.tsx';
import { formatBytes, formatCount, formatCredits } from '../../../parts/words/numbers.ts';
import { Share } from '../../usage/share.tsx';
import { OwnerLink, Status } from '../links.tsx';
import { type Kind, kinds, type LoadSearch, type Measure } from './load-search.ts';

type Line = Item<'getPlatformUsage'>;

interface LoadTableProps {
  by: Kind;
  sort: Measure;
  lines: readonly Line[];
  /** Of what is sorted by. */
  total: number;
  search: LoadSearch;
}

const Others = () => <span className="quiet-text">all others, and calls of none</span>;

/** Whose line it is: leads to it, or to what it is made of. */
const Subject = ({ by, line, search }: { by: Kind; line: Line; search: LoadSearch }) => {
  const { projectId, projectName, status, ownerId, route, address } = line;
  if (by === 'owner') return ownerId ? <OwnerLink ownerId={ownerId} /> : <Others />;
  if (by === 'address') return address ? <span className="mono">{address}</span> : <Others />;
  if (by === 'route')
    return route ? (
      <Link to="/operator/load" search={{ ...search, by: 'project', route }} className="mono">
        {route}
      </Link>
    ) : (
      <Others />
    );
  if (!projectId) return <Others />;
  if (status === 'deleted') return <span>{projectName}</span>;
  return (
    <>
      <Link to="/operator/projects/$projectId" params={{ projectId }}>
        {projectName}
      </Link>{' '}
      {status && status !== 'active' && <Status status={status} />}
    </>
  );
};

/** To what a project's, or an owner's, line is made of. */
const Parts = ({ line, search }: { line: Line; search: LoadSearch }) => {
  const { projectId, ownerId } = line;
  if (!projectId && !ownerId) return null;
  const narrowed = { ...search, ...(projectId ? { projectId } : ownerId && { ownerId }) };
  const { route: _, ...ofAnyRoute } = narrowed;
  const links = [
    ...(projectId ? [] : [{ label: 'projects', search: { ...narrowed, by: 'project' as const } }]),
    { label: 'routes', search: { ...ofAnyRoute, by: 'route' as const } },
    { label: 'networks', search: { ...ofAnyRoute, by: 'address' as const } },
  ];
  return (
    <span className="row close nowrap">
      {links.map(({ label, search: to }) => (
        <Link key={label} to="/operator/load" search={to}>
          {label}
        </Link>
      ))}
    </span>
  );
};

const Errors = ({ errors, refusals, faults }: Line) => (
  <td className="number">
    {formatCount(errors)}
    {(refusals > 0 || faults > 0) && (
      <div className="quiet-text">
        {[
          ...(refusals > 0 ? [`${formatCount(refusals)} by limits`] : []),
          ...(faults > 0 ? [`${formatCount(faults)} ours`] : []),
        ].join(', ')}
      </div>
    )}
  </td>
);

const number = (label: string) => ({ label, isNumber: true });
const seconds = (ms: number) => `${formatCount(Math.round(ms / 100) / 10)} s`;

export const LoadTable = ({ by, sort, lines, total, search }: LoadTableProps) => {
  const measure = sort.slice(1) as 'calls';
  return (
    <WideTable
      label={`Load by ${by}`}
      columns={[
        kinds[by].slice(0, -1),
        ...(by === 'project' ? ['Owner'] : []),
        number('Calls'),
        number('Failing'),
        number('Data'),
        number('PostgreSQL'),
        number('Services'),
        number('Credits'),
        { label: 'Share', isHidden: true },
        { label: 'Made of', isHidden: true },
      ]}
    >
      {lines.map((line) => (
        <tr key={line.projectId ?? line.ownerId ?? line.route ?? line.address ?? 'others'}>
          <td className="operator-name">
            <Subject by={by} line={line} search={search} />
          </td>
          {by === 'project' && (
            <td>{line.projectId && <OwnerLink ownerId={line.ownerId ?? null} />}</td>
          )}
          <td className="number">{formatCount(line.calls)}</td>
          <Errors {...line} />
          <td className="number">{formatBytes(line.bytes)}</td>
          <td className="number">{seconds(line.dbMs)}</td>
          <td className="number">{seconds(line.cpuMs)}</td>
          <td className="number">{formatCredits(line.millicredits)}</td>
          <Share part={line[measure]} whole={total} />
          <td>
            <Parts line={line} search={search} />
          </td>
        </tr>
      ))}
    </WideTable>
  );
};
