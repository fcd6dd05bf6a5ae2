import { useChange } from '../../api/queries.ts';
import { RenameModal } from '../../parts/dialogs/rename-modal.tsx';

interface RenameCollectionProps {
  projectId: string;
  name: string;
  onClose(): void;
  onRenamed: ((name: string) => void) | undefined;
}

export const RenameCollection = ({
  projectId,
  name,
  onClose,
  onRenamed,
}: RenameCollectionProps) => {
  const rename = useChange('renameCollection', {
    changes: ['listCollections'],
    onSuccess: (renamed) => {
      onClose();
      onRenamed?.(renamed.name);
    },
  });
  return (
    <RenameModal
      title={`Rename ${name}`}
      name={name}
      isCode
      maxLength={63}
      hint="Your app’s code and rules of payments that name it stay as they are: change them too. A create under the old name makes a new collection."
      error={rename.error}
      isPending={rename.isPending}
      onName={(next) =>
        rename.mutate({ params: { projectId, collection: name }, body: { name: next } })
      }
      onClose={onClose}
    />
  );
};
