import { useRef, useState } from 'react';
import { MoreMenu } from '../../../parts/menu.tsx';
import { countWords } from '../../../parts/words/numbers.ts';
import type { Column, ColumnType } from '../grid/columns.ts';
import { FieldInput } from './field-input.tsx';
import { type Data, readField } from './place.ts';

interface FieldsFormProps {
  columns: readonly Column[];
  data: Data;
  isReadOnly: boolean;
  /** By the name of the field: what the API says of it. */
  problems: ReadonlyMap<string, string>;
  onChange(data: Data): void;
  onProblem(field: string, problem: string | undefined): void;
}

/** More are shown on demand: a record may have a thousand. */
const firstFields = 60;

const typeChoices = ['text', 'number', 'boolean', 'json'] as const satisfies ColumnType[];

const AddField = ({
  taken,
  onAdd,
}: {
  taken: ReadonlySet<string>;
  onAdd(column: Column): void;
}) => {
  const [name, setName] = useState('');
  const [type, setType] = useState<ColumnType>('text');
  const isTaken = taken.has(name);
  const add = () => {
    if (name === '' || isTaken) return;
    onAdd({ name, type, isSystem: false });
    setName('');
  };
  return (
    <div className="row add-field">
      <input
        aria-label="Name of a field to add"
        placeholder="Add a field"
        className="code"
        value={name}
        autoComplete="off"
        spellCheck={false}
        onChange={({ target }) => setName(target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          event.preventDefault();
          add();
        }}
      />
      <select
        aria-label="Its type"
        value={type}
        onChange={({ target }) => setType(target.value as ColumnType)}
      >
        {typeChoices.map((choice) => (
          <option key={choice}>{choice}</option>
        ))}
      </select>
      <button type="button" disabled={name === '' || isTaken} onClick={add}>
        Add field
      </button>
    </div>
  );
};

/** The fields of a record, those of the schema or of other records first. */
export const FieldsForm = (props: FieldsFormProps) => {
  const { columns, data, isReadOnly, problems, onChange, onProblem } = props;
  const [added, setAdded] = useState<readonly Column[]>([]);
  const [isAll, setAll] = useState(false);
  /** A field that was just added: its value is what one types next. */
  const next = useRef<string>(undefined);
  const enter = (name: string, line: HTMLElement | null) => {
    if (next.current !== name || !line) return;
    next.current = undefined;
    line.querySelector<HTMLElement>('textarea, input, select')?.focus();
  };
  const [resets, setResets] = useState<ReadonlyMap<string, number>>(new Map());
  const known = new Map([...columns, ...added].map((column) => [column.name, column]));
  for (const name of Object.keys(data))
    if (!known.has(name)) known.set(name, { name, type: 'any', isSystem: false });
  const shown = [...known.values()];
  const set = (name: string, value: unknown) => {
    const { [name]: _, ...others } = data;
    onChange(value === undefined ? others : { ...data, [name]: value });
  };
  const reset = (name: string, value: null | undefined) => {
    set(name, value);
    onProblem(name, undefined);
    setResets(new Map(resets).set(name, (resets.get(name) ?? 0) + 1));
  };
  return (
    <>
      {shown.slice(0, isAll ? undefined : firstFields).map((column) => {
        const { name } = column;
        return (
          <div key={name} className="field-line" ref={(line) => enter(name, line)}>
            <FieldInput
              // Emptied from outside, it begins anew.
              key={resets.get(name) ?? 0}
              column={column}
              value={readField(data, name)}
              isReadOnly={isReadOnly}
              problem={problems.get(name)}
              onChange={(value) => set(name, value)}
              onProblem={(problem) => onProblem(name, problem)}
            />
            {!isReadOnly && (
              <MoreMenu
                label={`More of the field ${name}`}
                choices={[
                  { label: 'Set to null', onSelect: () => reset(name, null) },
                  {
                    label: 'Take it out',
                    onSelect: () => reset(name, undefined),
                    isDisabled: !Object.hasOwn(data, name),
                  },
                ]}
              />
            )}
          </div>
        );
      })}
      {shown.length > firstFields && !isAll && (
        <button type="button" onClick={() => setAll(true)}>
          Show {countWords(shown.length - firstFields, 'more field', 'more fields')}
        </button>
      )}
      {!isReadOnly && (
        <AddField
          taken={new Set(known.keys())}
          onAdd={(column) => {
            next.current = column.name;
            setAdded([...added, column]);
            setAll(true);
          }}
        />
      )}
    </>
  );
};
