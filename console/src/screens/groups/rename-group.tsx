import { useChange } from '../../api/queries.ts';
import { RenameModal } from '../../parts/dialogs/rename-modal.tsx';

interface RenameGroupProps {
  projectId: string;
  groupId: string;
  name: string;
  onClose(): void;
}

export const RenameGroup = ({ projectId, groupId, name, onClose }: RenameGroupProps) => {
  const rename = useChange('updateGroup', {
    changes: ['listGroups', 'getGroup'],
    onSuccess: onClose,
  });
  return (
    <RenameModal
      title="Rename the group"
      name={name}
      maxLength={100}
      error={rename.error}
      isPending={rename.isPending}
      onName={(next) =>
        rename.mutate({ project: projectId, params: { groupId }, body: { name: next } })
      }
      onClose={onClose}
    />
  );
};
