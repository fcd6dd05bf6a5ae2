import { useState } from 'react';
import { Modal } from '../../../parts/dialogs/modal.tsx';
import { Field } from '../../../parts/field.tsx';
import type { Column } from '../grid/columns.ts';
import type { Where } from './address.ts';
import { needsValue, type Operator, operators, operatorsFor, withCondition } from './where-text.ts';

interface FilterColumnProps {
  column: Column;
  where: Where | undefined;
  onClose(): void;
  onChange(where: Where): void;
}

/** A condition on one column, chosen instead of typed. */
export const FilterColumn = ({ column, where, onClose, onChange }: FilterColumnProps) => {
  const known = operatorsFor(column);
  const [operator, setOperator] = useState<Operator>(known[0] ?? 'exists');
  const [value, setValue] = useState(
    column.options?.[0] ?? (column.type === 'boolean' ? 'true' : ''),
  );
  const options = column.options ?? (column.type === 'boolean' ? ['true', 'false'] : undefined);
  const next = withCondition(where, column, operator, value);
  return (
    <Modal title={`Filter by ${column.name}`} isOpen onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          onChange(next);
          onClose();
        }}
      >
        <Field label={column.name}>
          {(props) => (
            <select
              {...props}
              value={operator}
              onChange={({ target }) => setOperator(target.value as Operator)}
            >
              {known.map((name) => (
                <option key={name} value={name}>
                  {operators[name]}
                </option>
              ))}
            </select>
          )}
        </Field>
        {needsValue(operator) && (
          <Field
            label="Value"
            {...(column.type === 'time' && { hint: 'ISO 8601: 2026-01-31T00:00:00.000Z' })}
          >
            {(props) =>
              options ? (
                <select {...props} value={value} onChange={({ target }) => setValue(target.value)}>
                  {options.map((option) => (
                    <option key={option}>{option}</option>
                  ))}
                </select>
              ) : (
                <input
                  {...props}
                  value={value}
                  inputMode={column.type === 'number' ? 'decimal' : 'text'}
                  autoComplete="off"
                  onChange={({ target }) => setValue(target.value)}
                />
              )
            }
          </Field>
        )}
        <p className="quiet-text">
          The filter becomes <code>{JSON.stringify(next)}</code>
        </p>
        <footer className="row end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary">
            Filter
          </button>
        </footer>
      </form>
    </Modal>
  );
};
