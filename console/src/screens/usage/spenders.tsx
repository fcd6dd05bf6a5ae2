import { Tabs } from '@base-ui/react/tabs';
import { Link } from '@tanstack/react-router';
import { useCall } from '../../api/queries.ts';
import { Loading } from '../../parts/lists/loading.tsx';
import { WideTable } from '../../parts/lists/wide-table.tsx';
import { Problem } from '../../parts/problem.tsx';
import { formatCount, formatCredits } from '../../parts/words/numbers.ts';
import { userLabel } from '../../parts/words/user-label.ts';
import { visibleText } from '../../parts/words/visible-text.ts';
import { dayBefore } from './days.ts';
import { Share } from './share.tsx';

interface SpendersProps {
  projectId: string;
  days: number;
}

/** So long the platform knows who it was. */
const keptDays = 30;
const shown = 20;

type Names = ReadonlyMap<string, string>;

/** What users and keys are called, of those that are still there and may be seen. */
const useNames = (projectId: string, callers: readonly string[]): Names => {
  const params = { projectId };
  const idsOf = (kind: string) =>
    callers.flatMap((caller) =>
      caller.startsWith(`${kind}:`) ? [caller.slice(kind.length + 1)] : [],
    );
  const ids = idsOf('user');
  const { data: users } = useCall(
    'listUsers',
    { params, query: { ids: ids.join(), limit: shown } },
    { enabled: ids.length > 0 },
  );
  const { data: keys } = useCall('listKeys', { params }, { enabled: idsOf('key').length > 0 });
  return new Map([
    ...(users?.items ?? []).map((user) => [user.id, userLabel(user)] as const),
    ...(keys?.items ?? []).map(({ id, name }) => [id, name] as const),
  ]);
};

interface CallerNameProps {
  projectId: string;
  caller: string | null;
  names: Names;
}

const CallerName = ({ projectId, caller, names }: CallerNameProps) => {
  if (caller === null) return <span className="quiet-text">all others</span>;
  const [kind, id = ''] = caller.split(':');
  const name = names.get(id);
  if (kind === 'user')
    return (
      <>
        user{' '}
        <Link
          to={`/projects/${projectId}/users/${id}` as string}
          className={name === undefined ? 'mono' : undefined}
          title={id}
        >
          {visibleText(name ?? id)}
        </Link>
      </>
    );
  if (kind === 'key')
    return (
      <>
        key{' '}
        <span className={name === undefined ? 'mono' : undefined} title={id}>
          {visibleText(name ?? id)}
        </span>
      </>
    );
  return caller === 'visitor' ? 'visitors, not signed in' : caller;
};

const By = ({ projectId, days, by }: SpendersProps & { by: 'caller' | 'address' }) => {
  const { data, error, refetch } = useCall('getUsage', {
    params: { projectId },
    query: { from: dayBefore(Math.min(days, keptDays) - 1), by },
  });
  const rows = data?.items.slice(0, shown) ?? [];
  const names = useNames(
    projectId,
    rows.flatMap(({ caller }) => caller ?? []),
  );
  if (error) return <Problem error={error} again={() => void refetch()} />;
  if (!data) return <Loading lines={2} />;
  if (data.items.length === 0) return <p className="quiet-text">None was seen in this time.</p>;
  return (
    <>
      <WideTable
        label={`Credits by ${by}`}
        columns={[
          by === 'caller' ? 'Caller' : 'Network address',
          { label: 'Calls', isNumber: true },
          { label: 'Credits', isNumber: true },
          { label: 'Share', isHidden: true },
        ]}
      >
        {rows.map(({ caller = null, address = null, calls, millicredits }) => (
          <tr key={caller ?? address ?? ''}>
            <td className="project-name">
              {by === 'caller' ? (
                <CallerName projectId={projectId} caller={caller} names={names} />
              ) : (
                <span className="mono">{address ?? 'all others'}</span>
              )}
            </td>
            <td className="number">{formatCount(calls)}</td>
            <td className="number">{formatCredits(millicredits)}</td>
            <Share part={millicredits} whole={data.millicredits} />
          </tr>
        ))}
      </WideTable>
      {data.items.length > shown && (
        <p className="quiet-text">
          The first {shown} of {formatCount(data.items.length)}.
        </p>
      )}
    </>
  );
};

/** Whose calls cost most. */
export const Spenders = ({ projectId, days }: SpendersProps) => (
  <div className="stack close">
    <h3>Who spends</h3>
    {days > keptDays && (
      <p className="quiet-text">Of the last {keptDays} days: nobody is named for longer.</p>
    )}
    <Tabs.Root defaultValue="caller" className="stack close">
      <Tabs.List className="tabs">
        <Tabs.Tab value="caller">Users and keys</Tabs.Tab>
        <Tabs.Tab value="address">Network addresses</Tabs.Tab>
      </Tabs.List>
      {(['caller', 'address'] as const).map((by) => (
        <Tabs.Panel key={by} value={by}>
          <By projectId={projectId} days={days} by={by} />
        </Tabs.Panel>
      ))}
    </Tabs.Root>
  </div>
);
