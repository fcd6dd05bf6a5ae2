import { DayBars } from '../../parts/lists/day-bars.tsx';
import { WideTable } from '../../parts/lists/wide-table.tsx';
import { formatCount } from '../../parts/words/numbers.ts';

interface DayChartProps {
  /** "Credits". */
  label: string;
  days: readonly { day: string; value: number }[];
  /** How a figure is written. */
  format?: (value: number) => string;
}

/** Bars by day, with the same figures as a table for who wants to read or copy them. */
export const DayChart = ({ label, days, format = formatCount }: DayChartProps) => (
  <div className="stack close">
    <DayBars label={label} days={days} />
    <details className="figures">
      <summary>As a table</summary>
      <WideTable label={`${label} by day`} columns={['Day (UTC)', { label, isNumber: true }]}>
        {[...days].reverse().map(({ day, value }) => (
          <tr key={day}>
            <td>{day}</td>
            <td className="number">{format(value)}</td>
          </tr>
        ))}
      </WideTable>
    </details>
  </div>
);
