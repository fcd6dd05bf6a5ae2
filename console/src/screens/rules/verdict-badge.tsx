import type { Verdict } from './words/matrix.ts';

const words = { yes: 'yes', some: 'some', no: 'no' };

interface VerdictBadgeProps {
  verdict: Verdict;
  /** A yes is shown as something to look at. */
  isRisk?: boolean;
}

/** Whether somebody may; `some`: it depends on the record, or on them. */
export const VerdictBadge = ({ verdict, isRisk }: VerdictBadgeProps) => {
  if (verdict === 'no') return <span className="quiet-text">no</span>;
  const colour = isRisk ? 'warn' : 'good';
  return (
    <span
      className={`badge ${verdict === 'yes' ? colour : ''}`}
      title={verdict === 'some' ? 'It depends on the record, or on whether they are verified' : ''}
    >
      {words[verdict]}
    </span>
  );
};
