import { useRef } from 'react';
import type { Row } from '../pages/cell-values.ts';
import type { GridProps } from './grid-props.ts';

/** Rows in a range are selected as far as they are loaded. */
const mostInRange = 1000;

/** Selects a row, or all from where the range began. */
export const useRange = ({ pages, selected, onSelect }: GridProps) => {
  const anchor = useRef(0);
  const selectTo = (index: number, row: Row, isRange: boolean) => {
    if (!isRange) {
      anchor.current = index;
      onSelect([row], !selected.has(row.id));
      return;
    }
    const [from, to] = [anchor.current, index].sort((a, b) => a - b) as [number, number];
    const range: Row[] = [];
    for (let at = from; at <= to && range.length < mostInRange; at++) {
      const found = pages.rowAt(at);
      if (found) range.push(found);
    }
    onSelect(range, true);
  };
  return {
    selectTo,
    beginAt(index: number) {
      anchor.current = index;
    },
  };
};
