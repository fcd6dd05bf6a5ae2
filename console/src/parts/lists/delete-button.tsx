import type { OperationId } from '../../api/operation-types.ts';
import { Takes } from '../takes.tsx';
import { notifyProblem } from '../toasts.tsx';

/** Deletes what a row of a table shows. @param onDelete asks first, where it has to */
export const DeleteButton = ({
  name,
  isPending,
  takes,
  onDelete,
}: {
  name: string;
  isPending: boolean;
  /** What it calls. */
  takes?: OperationId;
  onDelete: () => Promise<unknown>;
}) => {
  const button = (
    <button
      type="button"
      className="quiet small"
      aria-label={`Delete ${name}`}
      disabled={isPending}
      onClick={() => void onDelete().catch(notifyProblem)}
    >
      Delete
    </button>
  );
  return takes ? <Takes name={takes}>{button}</Takes> : button;
};
