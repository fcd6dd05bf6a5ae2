import type { Row } from '../pages/cell-values.ts';
import type { RecordPages } from '../pages/record-pages.ts';
import type { FieldChange } from './cell-editor.tsx';
import type { Column } from './columns.ts';
import type { ShownColumns } from './use-columns.ts';
import type { useRows } from './use-rows.ts';

export interface GridProps {
  label: string;
  /** The same for the same list: where it was scrolled to is kept by it. */
  listKey: string;
  pages: RecordPages;
  shown: ShownColumns;
  rows: ReturnType<typeof useRows>;
  rowPx: number;
  sort: string | undefined;
  selected: ReadonlySet<string>;
  openId: string | undefined;
  /** Records that somebody else has just changed. */
  fresh: ReadonlySet<string>;
  isReadOnly: boolean;
  onSort(sort: string | undefined): void;
  onFilter(column: Column): void;
  onOpen(row: Row): void;
  onSelect(rows: readonly Row[], isSelected: boolean): void;
  onDelete(row: Row | null): void;
  onEscape(): void;
  /** @returns false where it could not be written */
  onWrite(row: Row, column: Column, change: FieldChange, seen: unknown): Promise<boolean>;
}
