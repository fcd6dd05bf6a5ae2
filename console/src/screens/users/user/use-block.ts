import type { OperationId } from '../../../api/operation-types.ts';
import { useChange } from '../../../api/queries.ts';
import { useWhyNot } from '../../../api/roles.ts';

interface BlockChange {
  blocked: boolean;
  reason?: string;
  until?: string;
}

const changes = ['getUser', 'listUsers'] as const;

/**
 * Blocks a user, or ends that. Editors may by the call that roles with the power use, too; who may call
 * the control plane leaves a line in the audit log.
 */
export const useBlock = (projectId: string, userId: string) => {
  const isAdmin = useWhyNot()('updateUser') === undefined;
  const update = useChange('updateUser', { changes });
  const moderate = useChange('moderateUser', { changes });
  const change = async (body: BlockChange): Promise<void> => {
    if (isAdmin) await update.mutateAsync({ params: { projectId, userId }, body });
    else await moderate.mutateAsync({ project: projectId, params: { userId }, body });
  };
  return {
    change,
    isPending: update.isPending || moderate.isPending,
    error: update.error ?? moderate.error,
  };
};

/** What takes the least role of both. */
export const blocking: OperationId = 'moderateUser';
