import { useCall } from '../../../api/queries.ts';
import { ApiCall } from '../../../parts/api-call.tsx';
import { Loading } from '../../../parts/lists/loading.tsx';
import { WideTable } from '../../../parts/lists/wide-table.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { formatCount } from '../../../parts/words/numbers.ts';
import { Time } from '../../../parts/words/time.tsx';
import type { LogItem } from '../../calls/call-item.ts';

interface Failure {
  call: string;
  status: number;
  error: string;
  count: number;
  lastAt: string;
}

/** Those of the same call, status and error together, the most frequent first. */
const group = (items: readonly LogItem[]): Failure[] => {
  const byKey = new Map<string, Failure>();
  for (const item of items) {
    if (item.type === 'gap') continue;
    const { method, route, path, status, code, error, at } = item;
    const call = `${method} ${route ?? path}`;
    const key = `${call} ${status} ${code}`;
    const known = byKey.get(key);
    if (known) known.count += 1;
    else byKey.set(key, { call, status, error: error ?? code ?? '', count: 1, lastAt: at });
  }
  return [...byKey.values()].sort((a, b) => b.count - a.count);
};

/** What fails most of the last thousand failing calls. */
export const Failures = ({ projectId }: { projectId: string }) => {
  const input = { params: { projectId }, query: { status: 'failed', limit: 1000 } };
  const { data, error, refetch } = useCall('listRequests', input, {
    as: 'operator',
    everyMs: 30_000,
  });
  const failures = data && group(data.items);
  return (
    <section className="section" aria-labelledby="failures">
      <div className="spread">
        <h2 id="failures">Top failures</h2>
        <ApiCall name="listRequests" input={input} as="operator" />
      </div>
      <Problem error={error} again={() => void refetch()} />
      {!data && !error && <Loading lines={2} />}
      {failures?.length === 0 && <p className="quiet-text">No call has failed in three days.</p>}
      {failures && failures.length > 0 && (
        <WideTable
          label="Top failures"
          columns={['Call', 'Status', 'Error', { label: 'Times', isNumber: true }, 'Last']}
        >
          {failures.slice(0, 20).map(({ call, status, error, count, lastAt }) => (
            <tr key={`${call} ${status} ${error}`}>
              <td className="mono operator-name">{call}</td>
              <td>
                <span className={`badge ${status >= 500 ? 'bad' : 'warn'}`}>{status}</span>
              </td>
              <td className="operator-name">{error}</td>
              <td className="number">{formatCount(count)}</td>
              <td>
                <Time at={lastAt} />
              </td>
            </tr>
          ))}
        </WideTable>
      )}
    </section>
  );
};
