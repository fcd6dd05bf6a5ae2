import type { Answer } from '../../api/operation-types.ts';
import { useCall } from '../../api/queries.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { DayBars } from '../../parts/lists/day-bars.tsx';
import { Empty } from '../../parts/lists/empty.tsx';
import { Loading } from '../../parts/lists/loading.tsx';
import { WideTable } from '../../parts/lists/wide-table.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Screen } from '../../parts/screen.tsx';
import { useProjectId } from '../../parts/use-project-id.ts';
import { countWords, formatCount, formatCredits } from '../../parts/words/numbers.ts';
import { AiTabs } from './ai-tabs.tsx';

const firstCall = (projectId: string) => `curl -s ${location.origin}/api/runtime/${projectId}/ai \\
  -H "Authorization: Bearer $TOKEN" \\
  --json '{"messages":[{"role":"user","content":"Hello"}]}'`;

/** A day of the calendar in UTC, as credits are booked. */
const dayWords = new Intl.DateTimeFormat('en', {
  weekday: 'short',
  month: 'short',
  day: 'numeric',
  timeZone: 'UTC',
});

const columns = [
  'Day (UTC)',
  { label: 'Calls', isNumber: true },
  { label: 'Tokens', isNumber: true },
  { label: 'Credits', isNumber: true },
];

const Days = ({ usage }: { usage: Answer<'getUsage'> }) => {
  const { items, calls, millicredits } = usage;
  const tokens = items.reduce((sum, { units = 0 }) => sum + units, 0);
  return (
    <>
      <p>
        {countWords(calls, 'call')}, {countWords(tokens, 'token')} and {formatCredits(millicredits)}{' '}
        {millicredits === 1000 ? 'credit' : 'credits'} in the last 30 days.
      </p>
      <DayBars
        label="Tokens"
        days={items.map(({ day = '', units = 0 }) => ({ day, value: units }))}
      />
      <WideTable label="By day" columns={columns}>
        {items
          .filter((item) => item.calls > 0)
          .reverse()
          .map(({ day = '', calls, units = 0, millicredits }) => (
            <tr key={day}>
              <td>{dayWords.format(new Date(day))}</td>
              <td className="number">{formatCount(calls)}</td>
              <td className="number">{formatCount(units)}</td>
              <td className="number">{formatCredits(millicredits)}</td>
            </tr>
          ))}
      </WideTable>
    </>
  );
};

/** What the model was asked, by day. */
export const AiScreen = () => {
  const projectId = useProjectId();
  const input = { params: { projectId }, query: { by: 'day', route: 'generateText' } };
  const usage = useCall('getUsage', input);
  return (
    <Screen
      title="AI"
      says="What your app has asked the language model, and what that came to: a credit is 1,000 tokens, and a call at least one."
      actions={<ApiCall name="getUsage" input={input} />}
    >
      <AiTabs />
      {usage.error && <Problem error={usage.error} again={() => void usage.refetch()} />}
      {usage.isLoading && <Loading />}
      {usage.data && usage.data.calls > 0 && <Days usage={usage.data} />}
      {usage.data?.calls === 0 && (
        <Empty title="No calls yet" snippet={firstCall(projectId)}>
          Calls of your app to the model stand here by day. Users and visitors need no key of yours;
          what they may spend is bounded.
        </Empty>
      )}
    </Screen>
  );
};
