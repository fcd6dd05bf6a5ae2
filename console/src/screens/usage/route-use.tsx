import { useNavigate } from '@tanstack/react-router';
import { useCall } from '../../api/queries.ts';
import { Loading } from '../../parts/lists/loading.tsx';
import { WideTable } from '../../parts/lists/wide-table.tsx';
import { Problem } from '../../parts/problem.tsx';
import { formatBytes, formatCount, formatCredits } from '../../parts/words/numbers.ts';
import { DayChart } from './day-chart.tsx';
import { dayBefore, fillDays } from './days.ts';
import { Share } from './share.tsx';

interface RouteUseProps {
  projectId: string;
  days: number;
  /** operationId of the one that is looked at. */
  route: string | undefined;
}

/** What its calls used, by day. */
const OneRoute = ({ projectId, days, route }: RouteUseProps & { route: string }) => {
  const { data, error, refetch } = useCall('getUsage', {
    params: { projectId },
    query: { from: dayBefore(days - 1), route },
  });
  const prices = useCall('listPrices', {});
  const price = prices.data?.items.find(({ operations }) => operations.includes(route));
  const unit = price?.quantity ?? 'units';
  if (error) return <Problem error={error} again={() => void refetch()} />;
  if (!data) return <Loading lines={2} />;
  return (
    <div className="stack close">
      <h4>
        <code>{route}</code>, {unit} by day
      </h4>
      <DayChart
        label={unit}
        format={unit === 'bytes' ? formatBytes : formatCount}
        days={fillDays(
          days,
          data.items.map(({ day = '', units = 0 }) => ({ day, value: units })),
        )}
      />
    </div>
  );
};

/** Credits by route; one of them is opened for what it used. */
export const RouteUse = ({ projectId, days, route }: RouteUseProps) => {
  const navigate = useNavigate({ from: '/projects/$projectId/usage' });
  const { data, error, refetch } = useCall('getUsage', {
    params: { projectId },
    query: { from: dayBefore(days - 1), by: 'route' },
  });
  const toggle = (name: string | undefined) =>
    void navigate({
      search: (before) => {
        const { route: opened, ...rest } = before;
        return name === undefined || name === opened ? rest : { ...rest, route: name };
      },
      replace: true,
      resetScroll: false,
    });
  return (
    <div className="stack close">
      <h3>By route</h3>
      <Problem error={error} again={() => void refetch()} />
      {!data && !error && <Loading lines={2} />}
      {data && (
        <WideTable
          label="Credits by route"
          columns={[
            'Route',
            { label: 'Calls', isNumber: true },
            { label: 'Credits', isNumber: true },
            { label: 'Share', isHidden: true },
          ]}
        >
          {data.items.map((item) => (
            <tr key={item.route}>
              <td>
                <button
                  type="button"
                  className="link mono"
                  aria-expanded={item.route === route}
                  onClick={() => toggle(item.route)}
                >
                  {item.route}
                </button>
              </td>
              <td className="number">{formatCount(item.calls)}</td>
              <td className="number">{formatCredits(item.millicredits)}</td>
              <Share part={item.millicredits} whole={data.millicredits} />
            </tr>
          ))}
        </WideTable>
      )}
      {route && <OneRoute projectId={projectId} days={days} route={route} />}
    </div>
  );
};
