import { formatCount } from '../../../parts/words/numbers.ts';
import { Time } from '../../../parts/words/time.tsx';
import { visibleText } from '../../../parts/words/visible-text.ts';
import { Shortened } from '../pages/cell-values.ts';
import type { Column } from './columns.ts';

const isTime = (text: string) => /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text);

/** A value as one line of text, whatever it holds. */
export const CellValue = ({ value, column }: { value: unknown; column: Column }) => {
  if (value === undefined) return null;
  if (value === null) return <span className="faint-text">null</span>;
  if (value instanceof Shortened)
    return (
      <>
        <bdi>{visibleText(value.start)}…</bdi>{' '}
        <span className="faint-text">{formatCount(value.length)} characters</span>
      </>
    );
  if (typeof value === 'string')
    return column.type === 'time' && isTime(value) ? (
      <Time at={value} />
    ) : (
      <bdi>{visibleText(value)}</bdi>
    );
  return (
    <bdi>{typeof value === 'object' ? visibleText(JSON.stringify(value)) : String(value)}</bdi>
  );
};

/** How a cell of this column is set. */
export const cellClass = ({ type }: Column): string => {
  if (type === 'number') return 'cell number';
  return type === 'id' || type === 'json' ? 'cell mono' : 'cell';
};
