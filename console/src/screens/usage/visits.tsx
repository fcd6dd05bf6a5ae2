import { useCall } from '../../api/queries.ts';
import { Loading } from '../../parts/lists/loading.tsx';
import { Problem } from '../../parts/problem.tsx';
import { countWords, formatCount } from '../../parts/words/numbers.ts';
import { DayChart } from './day-chart.tsx';
import { fillDays } from './days.ts';

interface VisitsProps {
  projectId: string;
  days: number;
}

/** How many come, and how many make an account. */
export const Visits = ({ projectId, days }: VisitsProps) => {
  const input = { params: { projectId }, query: { days } };
  const visits = useCall('listVisits', input);
  const signUps = useCall('listSignUps', input);
  const most = Math.max(0, ...(visits.data?.items ?? []).map(({ visitors }) => visitors));
  const accounts = (signUps.data?.items ?? []).reduce((sum, day) => sum + day.signUps, 0);
  return (
    <section className="section" aria-labelledby="visits">
      <h2 id="visits">Visits and sign-ups</h2>
      <div className="two-charts">
        <div className="stack close">
          <div className="spread">
            <h3>Visitors a day</h3>
            {visits.data && <span className="quiet-text">at most {formatCount(most)}, about</span>}
          </div>
          <Problem error={visits.error} again={() => void visits.refetch()} />
          {visits.isLoading && <Loading lines={2} />}
          {visits.data && (
            <DayChart
              label="Visitors"
              days={fillDays(
                days,
                visits.data.items.map(({ day, visitors }) => ({ day, value: visitors })),
              )}
            />
          )}
        </div>
        <div className="stack close">
          <div className="spread">
            <h3>Sign-ups a day</h3>
            {signUps.data && <span className="quiet-text">{countWords(accounts, 'account')}</span>}
          </div>
          <Problem error={signUps.error} again={() => void signUps.refetch()} />
          {signUps.isLoading && <Loading lines={2} />}
          {signUps.data && (
            <DayChart
              label="Sign-ups"
              days={fillDays(
                days,
                signUps.data.items.map((item) => ({ day: item.day, value: item.signUps })),
              )}
            />
          )}
        </div>
      </div>
      <p className="quiet-text">
        Visitors are users and network addresses that called the project’s records, counted about
        right; sign-ups are accounts that are still there.
      </p>
    </section>
  );
};
