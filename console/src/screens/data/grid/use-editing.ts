import { useState } from 'react';
import type { Row } from '../pages/cell-values.ts';
import { type FieldChange, isEditedInPlace } from './cell-editor.tsx';
import type { Column } from './columns.ts';
import type { GridProps } from './grid-props.ts';

/** A cell that is being edited. */
export interface Editing {
  id: string;
  column: string;
  /** The value when the edit began: others may change it meanwhile. */
  seen: unknown;
  draft?: string;
}

/** Edits one cell at a time, in its place or in the record's panel. */
export const useEditing = ({ isReadOnly, onOpen, onWrite }: GridProps) => {
  const [editing, setEditing] = useState<Editing | null>(null);
  const write = async (row: Row, column: Column, change: FieldChange, typed?: Editing) => {
    const seen = typed ? typed.seen : row[column.name];
    if (await onWrite(row, column, change, seen)) return;
    // What was typed is there again.
    if (typed) setEditing(typed);
  };
  const edit = (row: Row | null | undefined, column: Column | undefined) => {
    if (!row || !column) return;
    const value = row[column.name];
    if (isReadOnly || !isEditedInPlace(column, value)) onOpen(row);
    else if (typeof value === 'boolean' || (column.type === 'boolean' && value === undefined))
      void write(row, column, { value: !value });
    else setEditing({ id: row.id, column: column.name, seen: value });
  };
  return { editing, setEditing, write, edit };
};
