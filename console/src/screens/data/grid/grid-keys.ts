import type { KeyboardEvent } from 'react';
import type { Row } from '../pages/cell-values.ts';
import type { Column } from './columns.ts';
import type { GridProps } from './grid-props.ts';
import type { useEditing } from './use-editing.ts';
import type { useRange } from './use-range.ts';

/** Where the keyboard is: row -1 is the head. */
export interface Place {
  row: number;
  column: number;
}

interface Bounds {
  rows: number;
  columns: number;
  /** As many as are in view. */
  page: number;
}

interface Key {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
}

/** Where a key leads; undefined for one that moves nothing. */
const move = (
  { row, column }: Place,
  { key, ctrlKey, metaKey }: Key,
  { rows, columns, page }: Bounds,
): Place | undefined => {
  const isFar = ctrlKey || metaKey;
  const to = (nextRow: number, nextColumn: number): Place => ({
    row: Math.max(-1, Math.min(nextRow, rows - 1)),
    column: Math.max(0, Math.min(nextColumn, columns - 1)),
  });
  switch (key) {
    case 'ArrowDown':
      return to(isFar ? rows - 1 : row + 1, column);
    case 'ArrowUp':
      return to(isFar ? 0 : row - 1, column);
    case 'ArrowRight':
      return to(row, isFar ? columns - 1 : column + 1);
    case 'ArrowLeft':
      return to(row, isFar ? 0 : column - 1);
    case 'PageDown':
      return to(row + page, column);
    case 'PageUp':
      return to(Math.max(0, row - page), column);
    case 'Home':
      return to(isFar ? 0 : row, isFar ? column : 0);
    case 'End':
      return to(isFar ? rows - 1 : row, isFar ? column : columns - 1);
    default:
      return undefined;
  }
};

interface GridKeys {
  props: GridProps;
  active: Place;
  activeRow: Row | null | undefined;
  activeColumn: Column | undefined;
  range: ReturnType<typeof useRange>;
  edit: ReturnType<typeof useEditing>['edit'];
  go(place: Place): void;
  openMenu(column: number): void;
}

const isTypedIn = (target: EventTarget) =>
  target instanceof HTMLElement && ['INPUT', 'SELECT', 'TEXTAREA'].includes(target.tagName);

const isOfGrid = (event: KeyboardEvent): boolean => {
  if (isTypedIn(event.target) && (event.target as HTMLInputElement).type !== 'checkbox')
    return false;
  // Those of its menus come by here too.
  return event.currentTarget.contains(event.target as Node) && !event.altKey;
};

/** Selects what is passed with Shift. */
const moveTo = (place: Place, isRange: boolean, keys: GridKeys) => {
  const { active, activeRow, range, props } = keys;
  if (isRange && activeRow && place.row !== active.row) {
    if (!props.selected.has(activeRow.id)) range.beginAt(active.row);
    const row = props.pages.rowAt(place.row);
    if (row) range.selectTo(place.row, row, true);
  }
  keys.go(place);
};

/** What the keys do with the cell that is active. */
export const onGridKey = (event: KeyboardEvent, keys: GridKeys) => {
  if (!isOfGrid(event)) return;
  const { props, active, activeRow } = keys;
  const { pages, shown, rows } = props;
  const bounds = { rows: pages.length, columns: shown.headers.length, page: rows.rowsInView };
  const place = move(active, event, bounds);
  if (place) {
    event.preventDefault();
    return moveTo(place, event.shiftKey, keys);
  }
  if (event.key === 'Escape') return props.onEscape();
  if (event.key === 'Enter' || event.key === 'F2') {
    event.preventDefault();
    if (active.row === -1) keys.openMenu(active.column);
    else if (!event.shiftKey) keys.edit(activeRow, keys.activeColumn);
    else if (activeRow) props.onOpen(activeRow);
  } else if (event.key === ' ' && activeRow) {
    event.preventDefault();
    keys.range.selectTo(active.row, activeRow, event.shiftKey);
  } else if (event.key === 'Delete' || event.key === 'Backspace') {
    event.preventDefault();
    props.onDelete(activeRow ?? null);
  }
};
