import { useChange } from '../../../api/queries.ts';
import { Modal } from '../../../parts/dialogs/modal.tsx';
import { WideTable } from '../../../parts/lists/wide-table.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { notify, notifyProblem } from '../../../parts/toasts.tsx';
import { toMatrix } from '../words/matrix.ts';
import { type Access, differences, rulesBehind } from '../words/words.ts';

interface ReviewProps {
  projectId: string;
  collection: string;
  before: Access;
  after: Access;
  onClose(): void;
}

const strangersRead = (access: Access) => toMatrix(rulesBehind(access), [])[0]?.read;

/** What other rules change, before they hold. */
export const Review = ({ projectId, collection, before, after, onClose }: ReviewProps) => {
  const params = { projectId, collection };
  const changes = ['listCollections', 'tryAccess', 'getExposure'] as const;
  const undo = useChange('setCollectionAccess', { changes });
  const save = useChange('setCollectionAccess', {
    changes,
    onSuccess: () => {
      onClose();
      notify(`The rules of ${collection} hold now`, {
        undo: () => undo.mutateAsync({ params, body: { access: before } }).catch(notifyProblem),
      });
    },
  });
  const lines = differences(before, after);
  const opens = strangersRead(before) === 'no' && strangersRead(after) !== 'no';
  return (
    <Modal title={`Change the rules of ${collection}?`} isOpen onClose={onClose} isWide>
      {opens && (
        <p className="callout warn">Strangers will read records that they can not read now.</p>
      )}
      {lines.length === 0 ? (
        <p>It says the same in other words.</p>
      ) : (
        <div className="review">
          <WideTable label="What changes" columns={['Rule', 'Now', 'Then']}>
            {lines.map(({ title, before: now, after: then }) => (
              <tr key={title}>
                <th scope="row">{title}</th>
                <td>{now}</td>
                <td>
                  <strong>{then}</strong>
                </td>
              </tr>
            ))}
          </WideTable>
        </div>
      )}
      <p className="quiet-text">They hold within 5 seconds, for lists and streams too.</p>
      <Problem error={save.error} />
      <footer>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          className="primary"
          disabled={save.isPending}
          onClick={() => save.mutate({ params, body: { access: after } })}
        >
          Set these rules
        </button>
      </footer>
    </Modal>
  );
};
