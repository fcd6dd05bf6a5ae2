import type { Item } from '../../api/operation-types.ts';
import { useChange } from '../../api/queries.ts';
import { RenameModal } from '../../parts/dialogs/rename-modal.tsx';

interface RenameProjectProps {
  project: Item<'listProjects'>;
  onClose(): void;
}

export const RenameProject = ({ project: { id, name }, onClose }: RenameProjectProps) => {
  const rename = useChange('updateProject', {
    changes: ['listProjects', 'getProject'],
    onSuccess: onClose,
  });
  return (
    <RenameModal
      title={`Rename ${name}`}
      name={name}
      maxLength={100}
      hint="Its address and id stay as they are."
      error={rename.error}
      isPending={rename.isPending}
      onName={(next) => rename.mutate({ params: { projectId: id }, body: { name: next } })}
      onClose={onClose}
    />
  );
};
