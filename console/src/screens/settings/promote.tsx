import { useQuery } from '@tanstack/react-query';
import { call } from '../../api/call.ts';
import type { Item } from '../../api/operation-types.ts';
import { queryClient, useChange } from '../../api/queries.ts';
import { Modal } from '../../parts/dialogs/modal.tsx';
import { Loading } from '../../parts/lists/loading.tsx';
import { Problem } from '../../parts/problem.tsx';
import { notify } from '../../parts/toasts.tsx';
import { countWords } from '../../parts/words/numbers.ts';
import { ConfigChanges } from './config-changes.tsx';

interface PromoteProps {
  projectId: string;
  preview: Item<'listProjects'>;
  onClose(): void;
}

/** Shows what the config of a preview would change in its project, and applies it. */
export const Promote = ({ projectId, preview: { id, name }, onClose }: PromoteProps) => {
  const params = { projectId };
  const plan = useQuery({
    queryKey: ['promotePreview', projectId, id],
    queryFn: () => call('promotePreview', { params, body: { preview: id, dryRun: true } }),
    gcTime: 0,
  });
  const promote = useChange('promotePreview', {
    onSuccess: ({ changes }) => {
      notify(`${countWords(changes.length, 'change')} promoted`);
      void queryClient.invalidateQueries();
      onClose();
    },
  });
  const changes = plan.data?.changes;
  return (
    <Modal title={`Promote ${name}`} isOpen onClose={onClose} isWide>
      <p className="quiet-text">
        What the preview has set is applied to the project, whole or not at all. Its records, users
        and files stay where they are.
      </p>
      {changes && <ConfigChanges changes={changes} />}
      {plan.isPending && <Loading />}
      <Problem error={plan.error ?? promote.error} />
      <footer>
        <button type="button" onClick={onClose}>
          {changes?.length === 0 ? 'Close' : 'Cancel'}
        </button>
        {changes && changes.length > 0 && (
          <button
            type="button"
            className="primary"
            disabled={promote.isPending}
            onClick={() => promote.mutate({ params, body: { preview: id } })}
          >
            Apply {countWords(changes.length, 'change')}
          </button>
        )}
      </footer>
    </Modal>
  );
};
