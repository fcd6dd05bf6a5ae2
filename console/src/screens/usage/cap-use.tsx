import { useCall } from '../../api/queries.ts';
import { formatCredits } from '../../parts/words/numbers.ts';
import { dayBefore } from './days.ts';

interface CapUseProps {
  projectId: string;
  /** In credits; null: there is no cap. */
  cap: number | null;
  of: 'day' | 'month';
}

const words = {
  day: { now: 'Today', end: 'midnight (UTC)' },
  month: { now: 'This month', end: 'the month is over (UTC)' },
} as const;

/** How much of a cap is spent, and whether calls are refused by it. */
export const CapUse = ({ projectId, cap, of }: CapUseProps) => {
  const today = dayBefore(0);
  const { data } = useCall(
    'getUsage',
    {
      params: { projectId },
      query: { from: of === 'day' ? today : `${today.slice(0, 8)}01`, by: 'day' },
    },
    { enabled: cap !== null, everyMs: 30_000 },
  );
  if (!data || cap === null) return null;
  const spent = `${words[of].now} ${formatCredits(data.millicredits)} of ${formatCredits(cap * 1000)} credits are spent`;
  return data.millicredits < cap * 1000 ? (
    <p className="quiet-text">{spent}.</p>
  ) : (
    <div className="callout warn" role="status">
      {spent}: priced calls are refused until {words[of].end}, or until the cap is raised.
    </div>
  );
};
