import { useState } from 'react';
import { Modal } from '../../../parts/dialogs/modal.tsx';
import { Field } from '../../../parts/field.tsx';
import { type Condition, wordWords } from './words.ts';

interface ConditionDialogProps {
  condition: Condition | undefined;
  /** Words to tick, roles too. */
  offered: readonly string[];
  onClose(): void;
  onDone(condition: Condition): void;
}

/** What a filter has to be, before the API says more of it. */
const parseWhere = (text: string): Condition['where'] | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Condition['where']) : undefined;
  } catch {
    return undefined;
  }
};

/** Who is let in, to records that pass a filter. */
export const ConditionDialog = ({ condition, offered, onClose, onDone }: ConditionDialogProps) => {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(condition?.to ?? []));
  const [text, setText] = useState(JSON.stringify(condition?.where ?? { published: true }));
  const where = parseWhere(text);
  const words = [...new Set([...offered, ...(condition?.to ?? [])])];
  const tick = (word: string, isOn: boolean) => {
    const next = new Set(chosen);
    if (isOn) next.add(word);
    else next.delete(word);
    setChosen(next);
  };
  return (
    <Modal title="Where a record is so" isOpen onClose={onClose} isWide>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (where) onDone({ to: [...chosen], where });
        }}
      >
        <fieldset className="plain-fieldset">
          <legend className="label">Who</legend>
          <div className="ticks">
            {words.map((word) => (
              <label key={word} className="check">
                <input
                  type="checkbox"
                  checked={chosen.has(word)}
                  onChange={({ target }) => tick(word, target.checked)}
                />
                {wordWords(word)}
              </label>
            ))}
          </div>
        </fieldset>
        <Field
          label="Where"
          hint={
            <>
              A filter as lists take it, such as{' '}
              <code>{'{"status": {"$in": ["open", "new"]}}'}</code>. <code>"$caller.id"</code> and{' '}
              <code>"$caller.role"</code> stand for who calls. A change has to pass before and after
              it.
            </>
          }
          problem={where ? undefined : 'This is no JSON object.'}
        >
          {(props) => (
            <textarea
              {...props}
              className="code"
              spellCheck={false}
              value={text}
              onChange={({ target }) => setText(target.value)}
            />
          )}
        </Field>
        <footer className="row end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={!where || chosen.size === 0}>
            {condition ? 'Change condition' : 'Add condition'}
          </button>
        </footer>
      </form>
    </Modal>
  );
};
