import { useCall } from '../../api/queries.ts';
import { Loading } from '../../parts/lists/loading.tsx';
import { Problem } from '../../parts/problem.tsx';
import { formatCredits } from '../../parts/words/numbers.ts';
import { Time } from '../../parts/words/time.tsx';

const soonMs = 7 * 24 * 3600 * 1000;

/** What is left for all of the owner's projects, and how long it lasts. */
export const Balance = () => {
  const { data, error, refetch } = useCall('getCredits', { query: { limit: 1 } });
  if (error) return <Problem error={error} again={() => void refetch()} />;
  if (!data) return <Loading lines={2} />;
  const { balanceMillicredits, reservedMillicredits, forecast } = data;
  const { endsAt, millicreditsPerDay, days } = forecast;
  const isSoon = endsAt !== null && Date.parse(endsAt) - Date.now() < soonMs;
  const pace = `${formatCredits(millicreditsPerDay)} credits a day, as in the last ${days === 1 ? 'day' : `${days} days`}`;
  return (
    <section className="figures-row" aria-label="Credits">
      <div>
        <div className="figure">{formatCredits(balanceMillicredits)}</div>
        <div className="quiet-text">
          credits left for all of your projects
          {reservedMillicredits > 0 && (
            <>, {formatCredits(reservedMillicredits)} held for calls under way</>
          )}
        </div>
      </div>
      <div>
        <div className={`figure ${isSoon ? 'figure-bad' : ''}`}>
          {endsAt === null ? (
            'They last'
          ) : (
            <>
              End <Time at={endsAt} />
            </>
          )}
        </div>
        <div className="quiet-text">
          {endsAt === null ? `until the next ones come, at ${pace}` : `at ${pace}; an estimate`}
        </div>
      </div>
    </section>
  );
};
