import { useCall } from '../../api/queries.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { Loading } from '../../parts/lists/loading.tsx';
import { Problem } from '../../parts/problem.tsx';
import { countWords } from '../../parts/words/numbers.ts';
import { Time } from '../../parts/words/time.tsx';

const words = {
  lines: 'have lines too many or too few',
  balance: 'have lines that sum to another balance',
  grants: 'have grants that do not make the balance',
  held: 'have credits held for calls that were booked',
} as const;

/** Whether the ledger agrees with itself. */
export const Reconciliation = () => {
  const { data, error, refetch } = useCall(
    'getReconciliation',
    {},
    { as: 'operator', everyMs: 60_000 },
  );
  const differing = Object.entries(data?.owners ?? {}).filter(([, count]) => count > 0);
  return (
    <section className="section" aria-labelledby="reconciliation">
      <div className="spread">
        <h2 id="reconciliation">Reconciliation of credits</h2>
        <ApiCall name="getReconciliation" input={{}} as="operator" />
      </div>
      <Problem error={error} again={() => void refetch()} />
      {!data && !error && <Loading lines={1} />}
      {data && (
        <>
          <p className="quiet-text">
            Lines, balances, grants and held credits of all owners were last compared:{' '}
            <Time at={data.startedAt} />
          </p>
          {differing.length === 0 ? (
            <div className={`callout ${data.startedAt ? 'good' : ''}`}>
              {data.startedAt ? 'All of them agree.' : 'It runs within minutes of the start.'}
            </div>
          ) : (
            <div className="callout bad">
              <ul>
                {differing.map(([kind, count]) => (
                  <li key={kind}>
                    {countWords(count, 'owner')} {words[kind as keyof typeof words]}
                  </li>
                ))}
              </ul>
              <p>
                The log of the service projects names them: “ledger of an owner is inconsistent”.
              </p>
            </div>
          )}
        </>
      )}
    </section>
  );
};
