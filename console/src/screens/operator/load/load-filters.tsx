import { type ReactNode, useState } from 'react';
import { kinds, type LoadSearch, type Measure, measures, periods } from './load-search.ts';

interface LoadFiltersProps {
  search: LoadSearch;
  /** Merged into what there is; undefined takes away. */
  onChange(changes: { [K in keyof LoadSearch]: LoadSearch[K] | undefined }): void;
}

interface ChoicesProps<T> {
  label: string;
  options: [T, string][];
  chosen: T | undefined;
  onChoose(value: T): void;
}

const Choices = <T extends string | number>(props: ChoicesProps<T>): ReactNode => (
  <fieldset className="choices periods" aria-label={props.label}>
    {props.options.map(([value, label]) => (
      <button
        key={value}
        type="button"
        aria-pressed={value === props.chosen}
        onClick={() => props.onChoose(value)}
      >
        {label}
      </button>
    ))}
  </fieldset>
);

/** As an input of the viewer's zone has it: 2026-11-27T09:30. */
const toLocal = (iso: string | undefined) => {
  if (iso === undefined) return '';
  const time = new Date(iso);
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};
const toIso = (local: string) => (local === '' ? undefined : new Date(local).toISOString());

/** In place of hours: a time with a beginning and an end. */
const ofOwn = 0;

/** Of whom, sorted by what, and of which time. */
export const LoadFilters = ({ search, onChange }: LoadFiltersProps) => {
  const { by = 'project', sort = '-calls', hours = 1, from, to } = search;
  const [isOpen, setOpen] = useState(false);
  const isOwn = isOpen || from !== undefined;
  return (
    <search className="row load-filters">
      <Choices
        label="Of"
        options={Object.entries(kinds) as [keyof typeof kinds, string][]}
        chosen={by}
        onChoose={(next) => onChange({ by: next, ...(next === 'address' && { route: undefined }) })}
      />
      <select
        aria-label="Sorted by"
        value={sort}
        onChange={({ target }) => onChange({ sort: target.value as Measure })}
      >
        {Object.entries(measures).map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <Choices
        label="Period"
        options={[
          ...Object.entries(periods).map(([value, label]): [number, string] => [
            Number(value),
            label,
          ]),
          [ofOwn, 'Other…'],
        ]}
        chosen={isOwn ? ofOwn : hours}
        onChoose={(next) => {
          setOpen(next === ofOwn);
          if (next !== ofOwn) onChange({ hours: next, from: undefined, to: undefined });
        }}
      />
      {isOwn && (
        <span className="row">
          <label className="row">
            <span>From</span>
            <input
              type="datetime-local"
              value={toLocal(from)}
              onChange={({ target }) => onChange({ from: toIso(target.value) })}
            />
          </label>
          <label className="row">
            <span>to</span>
            <input
              type="datetime-local"
              value={toLocal(to)}
              onChange={({ target }) => onChange({ to: toIso(target.value) })}
            />
          </label>
        </span>
      )}
    </search>
  );
};
