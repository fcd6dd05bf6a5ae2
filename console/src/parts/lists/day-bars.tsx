import { formatCount } from '../words/numbers.ts';

interface DayBarsProps {
  /** "Sign-ups". */
  label: string;
  /** `day` as `2026-01-31`, the oldest first. */
  days: readonly { day: string; value: number }[];
}

const dayWords = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const toWords = (day: string) => dayWords.format(new Date(`${day}T00:00:00Z`));

/** A small chart, a bar for each day; the figures on hover, and in a sentence for screen readers. */
export const DayBars = ({ label, days }: DayBarsProps) => {
  const most = Math.max(1, ...days.map(({ value }) => value));
  const sum = days.reduce((all, { value }) => all + value, 0);
  const [first, last] = [days[0], days.at(-1)];
  if (!first || !last) return null;
  return (
    <figure className="day-bars">
      <svg
        viewBox={`0 0 ${days.length} 10`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}: ${formatCount(sum)} from ${toWords(first.day)} to ${toWords(last.day)}, at most ${formatCount(most)} a day`}
      >
        {days.map(({ day, value }, index) => (
          <g key={day}>
            <title>{`${toWords(day)}: ${formatCount(value)}`}</title>
            <rect className="day-room" x={index} y={0} width={1} height={10} />
            <rect
              className="day-bar"
              x={index + 0.12}
              y={value === 0 ? 9.8 : 10 - (value / most) * 10}
              width={0.76}
              height={value === 0 ? 0.2 : (value / most) * 10}
            />
          </g>
        ))}
      </svg>
      <figcaption className="spread">
        <span>{toWords(first.day)}</span>
        <span>{toWords(last.day)}</span>
      </figcaption>
    </figure>
  );
};
