import {
  columnResizingFeature,
  columnSizingFeature,
  columnVisibilityFeature,
  tableFeatures,
  useTable,
} from '@tanstack/react-table';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type RefObject, useEffect, useMemo, useState } from 'react';
import type { Row } from '../pages/cell-values.ts';
import { type Column, columnWidth, mostColumns } from './columns.ts';

const features = tableFeatures({
  columnSizingFeature,
  columnResizingFeature,
  columnVisibilityFeature,
});
/** Rows come page by page, past the table, which knows the columns alone. */
const noRows: Row[] = [];
/** The table keeps widths in objects, where a field named `constructor` would find one. */
const toKey = (name: string) => `field ${name}`;
/** Of the ticks and numbers before each row. */
export const gutterPx = 104;

/** Which columns are shown, how wide each is, and which of them are in view. */
export const useColumns = (columns: readonly Column[], element: RefObject<HTMLElement | null>) => {
  const definitions = useMemo(
    () =>
      columns.map((column) => ({
        id: toKey(column.name),
        size: columnWidth(column),
        minSize: 56,
        maxSize: 900,
      })),
    [columns],
  );
  const [chosen, setChosen] = useState<Readonly<Record<string, boolean>>>({});
  const columnVisibility = useMemo(() => {
    const fields = columns.filter(({ isSystem }) => !isSystem);
    const late = fields.slice(mostColumns).map(({ name }) => [toKey(name), false]);
    return { ...Object.fromEntries(late), ...chosen };
  }, [columns, chosen]);
  const table = useTable({
    features,
    columns: definitions,
    data: noRows,
    state: { columnVisibility },
    columnResizeMode: 'onChange',
    // Names of fields are anything: none is read as a path.
    getRowId: (row: Row) => row.id,
  });
  const byName = useMemo(
    () => new Map(columns.map((column) => [toKey(column.name), column])),
    [columns],
  );
  const headers = (table.getHeaderGroups()[0]?.headers ?? []).flatMap((header) => {
    const column = byName.get(header.column.id);
    return column && header.column.getIsVisible()
      ? [
          {
            column,
            size: header.getSize(),
            startResize: header.getResizeHandler(),
            isResizing: header.column.getIsResizing(),
            setSize: (size: number) =>
              table.setColumnSizing((sizes) => ({ ...sizes, [header.column.id]: size })),
          },
        ]
      : [];
  });
  const virtualizer = useVirtualizer({
    horizontal: true,
    count: headers.length,
    getScrollElement: () => element.current,
    estimateSize: (index) => headers[index]?.size ?? 0,
    paddingStart: gutterPx,
    scrollPaddingStart: gutterPx,
    overscan: 2,
  });
  const sizes = headers.map(({ column, size }) => `${column.name} ${size}`).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: widths have changed
  useEffect(() => virtualizer.measure(), [sizes, virtualizer]);
  const inView = virtualizer.getVirtualItems().flatMap(({ index, start }) => {
    const header = headers[index];
    return header ? [{ ...header, index, startPx: start }] : [];
  });
  return {
    headers,
    inView,
    totalPx: virtualizer.getTotalSize(),
    showColumn: (index: number) => virtualizer.scrollToIndex(index, { align: 'auto' }),
    isVisible: (name: string) => columnVisibility[toKey(name)] !== false,
    setVisible: (name: string, isVisible: boolean) =>
      setChosen({ ...chosen, [toKey(name)]: isVisible }),
  };
};

export type ShownColumns = ReturnType<typeof useColumns>;
export type ColumnInView = ShownColumns['inView'][number];
