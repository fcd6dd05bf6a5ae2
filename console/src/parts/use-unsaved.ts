import { useBlocker } from '@tanstack/react-router';
import { confirm } from './dialogs/confirm.tsx';

/** Whoever leaves a form with something unsaved is asked first. */
export const useUnsaved = (isUnsaved: boolean): void => {
  useBlocker({
    shouldBlockFn: async () =>
      !(await confirm({
        title: 'Leave without saving?',
        says: 'What you have changed here is not saved yet, and would be gone.',
        action: 'Leave without saving',
        otherwise: 'Stay',
        isDangerous: true,
      })),
    enableBeforeUnload: isUnsaved,
    disabled: !isUnsaved,
  });
};
