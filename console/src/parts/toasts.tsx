import { BacklotError } from '@backlot/client';
import { Toast } from '@base-ui/react/toast';

const manager = Toast.createToastManager();

const undoMs = 10_000;

/** Says in a corner what was done; with `undo`, for ten seconds, a button that takes it back. */
export const notify = (title: string, { undo }: { undo?: () => unknown } = {}): void => {
  const id = manager.add({
    title,
    ...(undo && {
      timeout: undoMs,
      actionProps: {
        children: 'Undo',
        onClick: () => {
          manager.close(id);
          void undo();
        },
      },
    }),
  });
};

/** The same of what failed without a place of its own on the page: it stays until it is closed. */
export const notifyProblem = (error: Error): void => {
  const hint = error instanceof BacklotError ? error.hint : undefined;
  manager.add({
    title: error.message,
    ...(hint && { description: hint }),
    type: 'bad',
    timeout: 0,
    priority: 'high',
  });
};

let slowId: string | undefined;
/** While an answer is long in coming; `again` sends what may be sent once more. */
export const notifySlow = (isSlow: boolean, again: (() => void) | undefined): void => {
  if (slowId !== undefined) manager.close(slowId);
  slowId = isSlow
    ? manager.add({
        title: 'No answer from the server yet',
        description: 'What you have typed is kept.',
        timeout: 0,
        ...(again && { actionProps: { children: 'Ask again', onClick: again } }),
      })
    : undefined;
};

const List = () =>
  Toast.useToastManager().toasts.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className={`toast ${toast.type ?? ''}`}>
      <div>
        <Toast.Title render={<div />} />
        <Toast.Description className="quiet-text" />
      </div>
      <div className="row">
        <Toast.Action className="small" />
        <Toast.Close className="quiet small icon" aria-label="Close">
          ×
        </Toast.Close>
      </div>
    </Toast.Root>
  ));

/** Once, at the root. */
export const Toasts = () => (
  <Toast.Provider toastManager={manager} limit={3}>
    <Toast.Portal>
      <Toast.Viewport className="toasts">
        <List />
      </Toast.Viewport>
    </Toast.Portal>
  </Toast.Provider>
);
