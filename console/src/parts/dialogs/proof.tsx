import { BacklotError } from '@backlot/client';
import { useState, useSyncExternalStore } from 'react';
import { ownerAuth } from '../../api/session.ts';
import { Field } from '../field.tsx';
import { Problem } from '../problem.tsx';
import { Modal } from './modal.tsx';

type Answer = (isProven: boolean) => void;

let asked: Answer | undefined;
const listeners = new Set<() => void>();
const set = (next: Answer | undefined) => {
  asked = next;
  for (const listener of listeners) listener();
};

const ask = (): Promise<boolean> =>
  new Promise((resolve) => {
    asked?.(false);
    set((isProven) => {
      set(undefined);
      resolve(isProven);
    });
  });

/**
 * Asks for the password where it is long ago that it was: `if (!(await proveOwner())) return;`. False where
 * the owner would rather not. @throws BacklotError
 */
export const proveOwner = async (): Promise<boolean> => {
  try {
    await ownerAuth.reauthenticate();
    return true;
  } catch (error) {
    if (error instanceof BacklotError && error.code === 'reauthentication_needed') return ask();
    throw error;
  }
};

const Asking = ({ answer }: { answer: Answer }) => {
  const [isCode, setCode] = useState(false);
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const prove = async (typed: string) => {
    setError(null);
    setPending(true);
    try {
      await ownerAuth.reauthenticate(isCode ? { code: typed } : { password: typed });
      answer(true);
    } catch (failure) {
      setError(failure as Error);
      setPending(false);
    }
  };
  return (
    <Modal title="Is it still you?" isOpen onClose={() => answer(false)}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void prove(String(new FormData(event.currentTarget).get('proof')));
        }}
      >
        <p className="quiet-text">
          You signed in a while ago. Show that it is you before the ways in are changed. Without a
          password, sign out and in again.
        </p>
        <Field
          key={String(isCode)}
          label={isCode ? 'Code of the app, or a recovery code' : 'Your password'}
        >
          {(props) => (
            <input
              {...props}
              name="proof"
              type={isCode ? 'text' : 'password'}
              autoComplete={isCode ? 'one-time-code' : 'current-password'}
              maxLength={isCode ? 40 : 1024}
              required
            />
          )}
        </Field>
        <Problem error={error} />
        <footer className="row end">
          <button type="button" className="quiet" onClick={() => setCode(!isCode)}>
            {isCode ? 'Use the password' : 'Use a code'}
          </button>
          <button type="button" onClick={() => answer(false)}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={isPending}>
            Go on
          </button>
        </footer>
      </form>
    </Modal>
  );
};

/** Once, at the root. */
export const Proofs = () => {
  const answer = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => asked,
  );
  return answer && <Asking answer={answer} />;
};
