import { useState } from 'react';
import { Field } from '../../../parts/field.tsx';
import { formatCount } from '../../../parts/words/numbers.ts';
import type { Column } from '../grid/columns.ts';

interface FieldInputProps {
  column: Column;
  /** Undefined: the record has no such field. */
  value: unknown;
  isReadOnly: boolean;
  problem?: string | undefined;
  onChange(value: unknown): void;
  /** What can not be written as it stands, such as half an object; undefined once it can. */
  onProblem(problem: string | undefined): void;
}

/** Longer ones are edited as JSON: a field that grows with its text would be slow. */
const mostCharacters = 20_000;

type Kind = 'text' | 'number' | 'boolean' | 'json' | 'choice';

const findKind = ({ type, options }: Column, value: unknown): Kind => {
  if (typeof value === 'object' && value !== null) return 'json';
  if (options && (value === undefined || typeof value === 'string')) return 'choice';
  if (value !== undefined && value !== null) {
    if (typeof value === 'number') return 'number';
    return typeof value === 'boolean' ? 'boolean' : 'text';
  }
  if (type === 'number' || type === 'boolean' || type === 'json') return type;
  return 'text';
};

const toText = (kind: Kind, value: unknown) => {
  if (value === undefined || value === null) return '';
  return kind === 'json' ? JSON.stringify(value, null, 2) : String(value);
};

const read = (kind: Kind, text: string): { value: unknown } | { problem: string } => {
  if (kind === 'text' || kind === 'choice') return { value: text };
  if (text.trim() === '') return { value: undefined };
  if (kind === 'number') {
    const value = Number(text);
    return Number.isFinite(value) ? { value } : { problem: 'It is no number.' };
  }
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { problem: `It is no JSON yet: ${(error as Error).message}` };
  }
};

const rowsFor = (text: string) => Math.min(Math.max(text.split('\n', 12).length, 1), 12);

/** One field of a record, in the form that its type asks for. */
export const FieldInput = (props: FieldInputProps) => {
  const { column, value, isReadOnly, problem, onChange, onProblem } = props;
  // As it was at first: what is typed does not change what it is typed into.
  const [kind] = useState(() => findKind(column, value));
  const [typed, setTyped] = useState<string | null>(null);
  const [ownProblem, setOwnProblem] = useState<string>();
  const text = typed ?? toText(kind, value);
  const isMissing = value === undefined && typed === null;

  const type = (next: string) => {
    setTyped(next);
    const result = read(kind, next);
    const wrong = 'problem' in result ? result.problem : undefined;
    setOwnProblem(wrong);
    onProblem(wrong);
    if ('value' in result) onChange(result.value);
  };
  const choose = (option: string) => {
    if (option !== '') return type(option);
    setTyped('');
    onChange(undefined);
  };
  const label = (
    <>
      <bdi className="mono">{column.name}</bdi>{' '}
      <span className="faint-text">
        {column.ref ? `id in ${column.ref}` : kind === 'choice' ? 'choice' : kind}
        {column.isRequired && ', required'}
        {value === null && ', null'}
      </span>
    </>
  );
  if (typeof value === 'string' && value.length > mostCharacters && typed === null)
    return (
      <Field label={label} hint={`${formatCount(value.length)} characters: edit it as JSON.`}>
        {(field) => <textarea {...field} readOnly rows={3} value={`${value.slice(0, 1000)}…`} />}
      </Field>
    );
  const hint = column.says;
  return (
    <Field label={label} hint={hint} problem={ownProblem ?? problem}>
      {(field) => {
        const shared = { ...field, value: text, readOnly: isReadOnly, spellCheck: false };
        const placeholder = value === null ? 'null' : isMissing ? 'not set' : '';
        const code = kind === 'json' ? 'code' : '';
        if (kind === 'boolean' || kind === 'choice')
          return (
            <select
              {...field}
              value={text}
              disabled={isReadOnly}
              onChange={({ target }) => choose(target.value)}
            >
              {(text === '' || !column.isRequired) && <option value="">not set</option>}
              {[
                ...new Set([
                  ...(kind === 'boolean' ? ['true', 'false'] : (column.options ?? [])),
                  ...(text === '' ? [] : [text]),
                ]),
              ].map((option) => (
                <option key={option} value={option}>
                  {option}
                </option>
              ))}
            </select>
          );
        if (kind === 'number')
          return (
            <input
              {...shared}
              inputMode="decimal"
              autoComplete="off"
              placeholder={placeholder}
              onChange={({ target }) => type(target.value)}
            />
          );
        return (
          <textarea
            {...shared}
            className={`grows ${code}`}
            rows={rowsFor(text)}
            placeholder={placeholder}
            onChange={({ target }) => type(target.value)}
          />
        );
      }}
    </Field>
  );
};
