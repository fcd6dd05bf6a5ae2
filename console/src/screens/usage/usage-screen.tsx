import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useCall } from '../../api/queries.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { Empty } from '../../parts/lists/empty.tsx';
import { Loading } from '../../parts/lists/loading.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Screen } from '../../parts/screen.tsx';
import { countWords, formatCredits } from '../../parts/words/numbers.ts';
import { Balance } from './balance.tsx';
import { Caps } from './caps.tsx';
import { DayChart } from './day-chart.tsx';
import { dayBefore, fillDays } from './days.ts';
import { Limits } from './limits.tsx';
import { ProjectShares } from './project-shares.tsx';
import { RouteUse } from './route-use.tsx';
import { type Period, periods } from './search.ts';
import { Spenders } from './spenders.tsx';
import { Visits } from './visits.tsx';
import './usage.css';

const from = '/signed-in/projects/$projectId/usage';

const firstPriced = (projectId: string) =>
  `curl -s ${location.origin}/api/runtime/${projectId}/ai \\
  -H "Authorization: Bearer $TOKEN" --json '{"messages":[{"role":"user","content":"Hello"}]}'`;

/** What the project costs, who makes it cost that, and how long the credits last. */
export const UsageScreen = () => {
  const { projectId } = useParams({ from });
  const { days = 30, route } = useSearch({ from });
  const navigate = useNavigate({ from: '/projects/$projectId/usage' });
  const input = { params: { projectId }, query: { from: dayBefore(days - 1) } };
  const usage = useCall('getUsage', input, { everyMs: 60_000 });
  const { data } = usage;
  const setPeriod = (next: Period) =>
    void navigate({ search: { days: next, ...(route && { route }) }, replace: true });
  return (
    <Screen
      title="Usage"
      says="What calls cost: AI, mails and files. All else is free."
      actions={
        <>
          <ApiCall name="getUsage" input={input} />
          <fieldset className="choices periods" aria-label="Period">
            {periods.map((period) => (
              <button
                key={period}
                type="button"
                aria-pressed={period === days}
                onClick={() => setPeriod(period)}
              >
                {period} days
              </button>
            ))}
          </fieldset>
        </>
      }
    >
      <Balance />
      <section className="section" aria-labelledby="spent">
        <div className="spread">
          <h2 id="spent">Spent by day</h2>
          {data && (
            <p className="quiet-text">
              {formatCredits(data.millicredits)} credits for {countWords(data.calls, 'priced call')}
            </p>
          )}
        </div>
        {usage.error && <Problem error={usage.error} again={() => void usage.refetch()} />}
        {usage.isLoading && <Loading />}
        {data &&
          (data.calls === 0 ? (
            <Empty title="Nothing spent in this time" snippet={firstPriced(projectId)}>
              Calls with a price show here a few seconds after they were made, such as this one.
            </Empty>
          ) : (
            <>
              <DayChart
                label="Credits"
                format={(credits) => formatCredits(credits * 1000)}
                days={fillDays(
                  days,
                  data.items.map(({ day = '', millicredits }) => ({
                    day,
                    value: millicredits / 1000,
                  })),
                )}
              />
              <RouteUse projectId={projectId} days={days} route={route} />
              <Spenders projectId={projectId} days={days} />
            </>
          ))}
      </section>
      <Caps projectId={projectId} />
      <Limits projectId={projectId} />
      <Visits projectId={projectId} days={days} />
      <ProjectShares projectId={projectId} days={days} />
    </Screen>
  );
};
