import { useCall } from '../../api/queries.ts';
import { Loading } from '../../parts/lists/loading.tsx';
import { WideTable } from '../../parts/lists/wide-table.tsx';
import { Problem } from '../../parts/problem.tsx';
import { formatCount } from '../../parts/words/numbers.ts';

/** Calls a minute, as they hold now: what the operator allows, or less where the owner has said so. */
export const Limits = ({ projectId }: { projectId: string }) => {
  const { data, error, refetch } = useCall('getLimits', { params: { projectId } });
  return (
    <section className="section" aria-labelledby="limits">
      <h2 id="limits">Calls a minute</h2>
      <p className="quiet-text">
        Past a limit calls are refused (429 <code>rate_limited</code>) until the minute is over. You
        can lower them in the config as a file; the operator of this installation can raise them.
      </p>
      <Problem error={error} again={() => void refetch()} />
      {!data && !error && <Loading lines={2} />}
      {data && (
        <div className="limits">
          <WideTable
            label="Limits by class"
            columns={[
              'Class',
              { label: 'Of one caller', isNumber: true },
              { label: 'Of the project', isNumber: true },
            ]}
          >
            {Object.entries(data).map(([name, { perCaller, perProject }]) => (
              <tr key={name}>
                <td>{name}</td>
                <td className="number">{formatCount(perCaller)}</td>
                <td className="number">{formatCount(perProject)}</td>
              </tr>
            ))}
          </WideTable>
        </div>
      )}
    </section>
  );
};
