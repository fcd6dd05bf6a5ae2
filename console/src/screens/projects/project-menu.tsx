import { useState } from 'react';
import type { Item, OperationId } from '../../api/operation-types.ts';
import { useChange } from '../../api/queries.ts';
import { takesRole, whyNot } from '../../api/roles.ts';
import { confirm } from '../../parts/dialogs/confirm.tsx';
import { type Choice, MoreMenu } from '../../parts/menu.tsx';
import { notify, notifyProblem } from '../../parts/toasts.tsx';
import { RenameProject } from './rename-project.tsx';

type Project = Item<'listProjects'>;

const reads = ['listProjects', 'getProject'] as const;

/** What can be done with one of the list: rename, pause and resume, delete and restore. */
export const ProjectMenu = ({ project, label }: { project: Project; label?: string }) => {
  const { id: projectId, name, status, role } = project;
  const [isRenaming, setRenaming] = useState(false);
  const update = useChange('updateProject', { changes: reads });
  const remove = useChange('deleteProject', { changes: reads });
  const restore = useChange('restoreProject', { changes: reads });
  const params = { projectId };

  const setStatus = (next: 'active' | 'paused') =>
    update.mutateAsync({ params, body: { status: next } });
  const resume = async () => {
    await setStatus('active');
    notify(`${name} takes calls again`);
  };
  const bringBack = async () => {
    await restore.mutateAsync({ params });
    notify(`${name} is restored`);
  };
  const pause = async () => {
    const isSure = await confirm({
      title: `Pause ${name}?`,
      says: 'Every call of its app is refused until you resume it. Nothing is deleted.',
      action: 'Pause project',
    });
    if (!isSure) return;
    await setStatus('paused');
    notify(`${name} is paused`, { undo: () => resume().catch(notifyProblem) });
  };
  const erase = async () => {
    const isSure = await confirm({
      title: `Delete ${name}?`,
      says: 'Its app stops working at once. For 30 days you can restore it from this list; then users, records, files, mails and payments are gone for good.',
      action: 'Delete project',
      isDangerous: true,
      typed: name,
    });
    if (!isSure) return;
    await remove.mutateAsync({ params });
    notify(`${name} is deleted`, { undo: () => bringBack().catch(notifyProblem) });
  };
  const run = (work: () => Promise<unknown>) => () => void work().catch(notifyProblem);

  /** Who may not reads which role it takes. */
  const where = (operation: OperationId, choice: Choice): Choice =>
    whyNot(role, operation)
      ? { ...choice, label: `${choice.label} (${takesRole(operation)})`, isDisabled: true }
      : choice;

  const choices: Choice[] =
    status === 'deleted'
      ? [where('restoreProject', { label: 'Restore', onSelect: run(bringBack) })]
      : [
          where('updateProject', { label: 'Rename…', onSelect: () => setRenaming(true) }),
          where(
            'updateProject',
            status === 'paused'
              ? { label: 'Resume', onSelect: run(resume) }
              : { label: 'Pause…', onSelect: run(pause) },
          ),
          where('deleteProject', { label: 'Delete…', onSelect: run(erase), isDangerous: true }),
        ];
  return (
    <>
      <MoreMenu label={`More of ${name}`} choices={choices}>
        {label}
      </MoreMenu>
      {isRenaming && <RenameProject project={project} onClose={() => setRenaming(false)} />}
    </>
  );
};
