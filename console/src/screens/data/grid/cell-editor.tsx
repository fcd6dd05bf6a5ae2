import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { Shortened } from '../pages/cell-values.ts';
import type { Column } from './columns.ts';

/** What becomes of a field: a value, or none. */
export type FieldChange = { value: unknown } | { isRemoved: true };

export type Read = FieldChange | { problem: string };

/** What somebody has typed, as a value of the column's type. */
export const readTyped = (text: string, { type }: Column, before: unknown): Read => {
  const isNumber = type === 'number' || (type === 'any' && typeof before === 'number');
  if (!isNumber) return { value: text };
  if (text.trim() === '') return { isRemoved: true };
  const value = Number(text);
  return Number.isFinite(value) ? { value } : { problem: 'It is no number.' };
};

/** Whether it is changed in the cell; otherwise in the panel beside. */
export const isEditedInPlace = ({ type, isSystem }: Column, value: unknown): boolean =>
  !isSystem &&
  type !== 'json' &&
  !(value instanceof Shortened) &&
  (typeof value !== 'object' || value === null) &&
  !(typeof value === 'string' && value.includes('\n'));

interface CellEditorProps {
  column: Column;
  value: unknown;
  /** What was typed before, where it could not be written. */
  draft: string | undefined;
  onDone(change: FieldChange, text: string, goOn: -1 | 0 | 1): void;
  onLeave(): void;
}

export const CellEditor = ({ column, value, draft, onDone, onLeave }: CellEditorProps) => {
  const initial = value === undefined || value === null ? '' : String(value);
  const [text, setText] = useState(draft ?? initial);
  const [problem, setProblem] = useState<string>();
  const field = useRef<HTMLInputElement & HTMLSelectElement>(null);
  const isDone = useRef(false);
  useEffect(() => {
    field.current?.focus();
    field.current?.select?.();
  }, []);

  const leave = () => {
    isDone.current = true;
    onLeave();
  };
  const finish = (goOn: -1 | 0 | 1) => {
    if (isDone.current) return;
    if (text === initial && draft === undefined) return leave();
    const read = readTyped(text, column, value);
    if ('problem' in read) return setProblem(read.problem);
    isDone.current = true;
    onDone(read, text, goOn);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    event.stopPropagation();
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Escape') leave();
    else if (event.key === 'Enter') finish(0);
    else if (event.key === 'Tab') {
      event.preventDefault();
      finish(event.shiftKey ? -1 : 1);
    }
  };
  const shared = {
    ref: field,
    value: text,
    'aria-label': column.name,
    'aria-invalid': problem !== undefined,
    title: problem,
    onKeyDown,
    onBlur: () => finish(0),
  };
  if (column.options)
    return (
      <select {...shared} onChange={({ target }) => setText(target.value)}>
        {[...new Set([initial, ...column.options])].map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
      </select>
    );
  return (
    <input
      {...shared}
      inputMode={column.type === 'number' ? 'decimal' : 'text'}
      autoComplete="off"
      spellCheck={false}
      onChange={({ target }) => {
        setProblem(undefined);
        setText(target.value);
      }}
    />
  );
};
