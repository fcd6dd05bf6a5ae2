import { type ReactNode, useState, useSyncExternalStore } from 'react';
import { Modal } from './modal.tsx';

export interface Question {
  /** "Delete the project Shop?" */
  title: string;
  /** What it will do, and whether it can be undone. */
  says: ReactNode;
  /** On the button, with a verb: "Delete project". */
  action: string;
  /** On the other button: "Cancel" unless stated. */
  otherwise?: string;
  isDangerous?: boolean;
  /** Has to be typed first: of what can't be undone. */
  typed?: string;
}

interface Asked extends Question {
  answer(isYes: boolean): void;
}

let asked: Asked | undefined;
const listeners = new Set<() => void>();
const set = (next: Asked | undefined) => {
  asked = next;
  for (const listener of listeners) listener();
};

/** Asks before something is done: `if (await confirm({...})) …`. */
export const confirm = (question: Question): Promise<boolean> =>
  new Promise((resolve) => {
    asked?.answer(false);
    set({
      ...question,
      answer: (isYes) => {
        set(undefined);
        resolve(isYes);
      },
    });
  });

const Asking = ({ title, says, action, otherwise, isDangerous, typed, answer }: Asked) => {
  const [text, setText] = useState('');
  return (
    <Modal title={title} isOpen onClose={() => answer(false)}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          answer(true);
        }}
      >
        <div className="quiet-text">{says}</div>
        {typed !== undefined && (
          <label className="field">
            <span>
              Type <code>{typed}</code> to go on
            </span>
            <input
              value={text}
              onChange={({ target }) => setText(target.value)}
              autoComplete="off"
            />
          </label>
        )}
        <footer className="row end">
          <button type="button" onClick={() => answer(false)}>
            {otherwise ?? 'Cancel'}
          </button>
          <button
            type="submit"
            className={isDangerous ? 'danger' : 'primary'}
            disabled={typed !== undefined && text !== typed}
          >
            {action}
          </button>
        </footer>
      </form>
    </Modal>
  );
};

/** Once, at the root. */
export const Confirmations = () => {
  const question = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => asked,
  );
  return question && <Asking key={question.title} {...question} />;
};
