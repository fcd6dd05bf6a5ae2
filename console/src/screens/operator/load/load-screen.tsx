import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useCall } from '../../../api/queries.ts';
import { ApiCall } from '../../../parts/api-call.tsx';
import { Empty } from '../../../parts/lists/empty.tsx';
import { Loading } from '../../../parts/lists/loading.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { Screen } from '../../../parts/screen.tsx';
import { Time } from '../../../parts/words/time.tsx';
import { LoadFilters } from './load-filters.tsx';
import type { LoadSearch } from './load-search.ts';
import { LoadTable } from './load-table.tsx';
import '../../usage/usage.css';
import '../operator.css';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** The same for a minute, so that it is asked for once. */
const hoursAgo = (hours: number) =>
  new Date(Math.floor(Date.now() / minuteMs) * minuteMs - hours * hourMs).toISOString();

/** What the list is narrowed to, and the way back. */
const Narrowed = ({ search }: { search: LoadSearch }) => {
  const { projectId, ownerId, route, ...rest } = search;
  if (!projectId && !ownerId && !route) return null;
  return (
    <p className="row">
      <span>
        Only
        {projectId && (
          <>
            {' '}
            the project <code>{projectId}</code>
          </>
        )}
        {ownerId && (
          <>
            {' '}
            the owner <code>{ownerId}</code>
          </>
        )}
        {route && (
          <>
            {' '}
            the route <code>{route}</code>
          </>
        )}
      </span>
      <Link to="/operator/load" search={rest}>
        Show all
      </Link>
    </p>
  );
};

/** Who makes the load, now or in a chosen time. */
export const LoadScreen = () => {
  const search = useSearch({ from: '/operator/load' });
  const navigate = useNavigate({ from: '/operator/load' });
  const { by = 'project', sort = '-calls', hours = 1, from, to, ...narrow } = search;
  const input = {
    query: { by, sort, from: from ?? hoursAgo(hours), ...(to && { to }), ...narrow },
  };
  const { data, error, refetch } = useCall('getPlatformUsage', input, {
    as: 'operator',
    everyMs: 15_000,
  });
  return (
    <Screen
      title="Load"
      says="What the calls of all projects came to, free and refused ones too, the heaviest first."
      actions={<ApiCall name="getPlatformUsage" input={input} as="operator" />}
    >
      <LoadFilters
        search={search}
        onChange={(changes) => {
          const next = Object.entries({ ...search, ...changes });
          const kept = next.filter(([, value]) => value !== undefined);
          void navigate({ search: Object.fromEntries(kept), replace: true });
        }}
      />
      <Narrowed search={search} />
      <Problem error={error} again={() => void refetch()} />
      {!data && !error && <Loading lines={5} />}
      {data && (
        <p className="quiet-text">
          <Time at={data.from} /> to{' '}
          {Date.parse(data.to) > Date.now() ? 'now' : <Time at={data.to} />}, in steps of{' '}
          {{ minutes: 'five minutes', hours: 'an hour', days: 'a day' }[data.step]}.
        </p>
      )}
      {data?.items.length === 0 && (
        <Empty title="No calls">Nobody has called anything in this time.</Empty>
      )}
      {data && data.items.length > 0 && (
        <LoadTable by={by} sort={sort} lines={data.items} total={data.total} search={search} />
      )}
    </Screen>
  );
};
