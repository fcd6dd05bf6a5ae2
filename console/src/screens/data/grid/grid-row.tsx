import { memo, type ReactNode, useLayoutEffect, useRef } from 'react';
import { formatCount } from '../../../parts/words/numbers.ts';
import type { Row } from '../pages/cell-values.ts';
import { CellValue, cellClass } from './cell.tsx';
import { type ColumnInView, gutterPx } from './use-columns.ts';

export interface RowActions {
  onActivate(row: number, column: number): void;
  onEdit(row: number, column: number): void;
  onOpen(row: Row): void;
  onSelect(index: number, row: Row, isRange: boolean): void;
  toId(row: number, column: number): string;
}

interface GridRowProps {
  index: number;
  row: Row | null | undefined;
  columns: readonly ColumnInView[];
  /** Changes when `columns` does. */
  columnsKey: string;
  topPx: number;
  heightPx: number;
  widthPx: number;
  isSelected: boolean;
  isOpen: boolean;
  isFresh: boolean;
  activeColumn: number | null;
  /** In place of the active cell. */
  editor: ReactNode;
  actions: RowActions;
}

const rowState = (row: Row | null | undefined) => {
  if (row === null) return 'The record is gone';
  return row === undefined ? 'Loading' : undefined;
};

const Gutter = ({ index, row, isSelected, isFresh, actions }: GridRowProps) => {
  const number = formatCount(index + 1);
  return (
    <div role="gridcell" aria-colindex={1} className="gutter" style={{ width: gutterPx }}>
      <input
        type="checkbox"
        tabIndex={-1}
        aria-label={`Select row ${number}`}
        checked={isSelected}
        disabled={!row}
        onChange={() => {}}
        onClick={({ shiftKey }) => row && actions.onSelect(index, row, shiftKey)}
      />
      <button
        type="button"
        tabIndex={-1}
        className="quiet open-row"
        title="Open the record"
        aria-label={`Open row ${number}`}
        disabled={!row}
        onClick={() => row && actions.onOpen(row)}
      >
        {number}
      </button>
      {isFresh && <span className="fresh" title="Changed just now by somebody" />}
    </div>
  );
};

const GridRowNow = (props: GridRowProps) => {
  const { index, row, columns, topPx, heightPx, widthPx } = props;
  const { isSelected, isOpen, activeColumn, editor, actions } = props;
  const line = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it stands for another record then
  useLayoutEffect(
    () => () => {
      const element = line.current;
      if (element?.contains(document.activeElement))
        element.closest<HTMLElement>('[role="grid"]')?.focus({ preventScroll: true });
    },
    [index],
  );
  const state = rowState(row);
  const classes = ['grid-row', isSelected && 'selected', isOpen && 'open', row === null && 'gone'];
  return (
    <div
      ref={line}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      className={classes.filter(Boolean).join(' ')}
      style={{ transform: `translateY(${topPx}px)`, height: heightPx, width: widthPx }}
    >
      <Gutter {...props} />
      {columns.map(({ column, index: place, startPx, size }) => {
        const isActive = activeColumn === place;
        return (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the grid takes the keys
          <div
            key={column.name}
            role="gridcell"
            id={actions.toId(index, place)}
            aria-colindex={place + 2}
            className={`${cellClass(column)} ${isActive ? 'active' : ''}`}
            style={{ insetInlineStart: startPx, width: size }}
            onClick={() => actions.onActivate(index, place)}
            onDoubleClick={() => actions.onEdit(index, place)}
          >
            {isActive && editor ? (
              editor
            ) : row ? (
              <CellValue value={row[column.name]} column={column} />
            ) : (
              state === 'Loading' && <span className="skeleton" />
            )}
          </div>
        );
      })}
      {state && <span className="visually-hidden">{state}</span>}
    </div>
  );
};

/** Drawn anew only where something of it has changed: a step of the keyboard changes two rows of forty. */
export const GridRow = memo(GridRowNow, (a, b) =>
  (Object.keys(a) as (keyof GridRowProps)[]).every(
    (name) => name === 'columns' || a[name] === b[name],
  ),
);
