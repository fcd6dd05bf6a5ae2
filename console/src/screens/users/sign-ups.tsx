import { useCall } from '../../api/queries.ts';
import { DayBars } from '../../parts/lists/day-bars.tsx';
import { countWords } from '../../parts/words/numbers.ts';

const days = 30;
const dayMs = 24 * 3600 * 1000;

/** The last days, those without a sign-up too, the oldest first. */
const allDays = (counts: ReadonlyMap<string, number>) =>
  Array.from({ length: days }, (_, index) => {
    const day = new Date(Date.now() - (days - 1 - index) * dayMs).toISOString().slice(0, 10);
    return { day, value: counts.get(day) ?? 0 };
  });

/** How many accounts were made of late; nothing where there are none. */
export const SignUps = ({ projectId }: { projectId: string }) => {
  const { data } = useCall('listSignUps', { params: { projectId }, query: { days } });
  const counts = data?.items ?? [];
  const sum = counts.reduce((all, { signUps }) => all + signUps, 0);
  if (sum === 0) return null;
  const verified = counts.reduce((all, day) => all + day.verified, 0);
  return (
    <section className="stack close sign-ups" aria-label="Sign-ups">
      <p className="quiet-text">
        {countWords(sum, 'sign-up')} in {days} days, {verified} with a verified address
      </p>
      <DayBars
        label="Sign-ups"
        days={allDays(new Map(counts.map(({ day, signUps }) => [day, signUps])))}
      />
    </section>
  );
};
