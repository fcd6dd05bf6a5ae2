import type { Item } from '../../api/operation-types.ts';
import { countWords } from '../../parts/words/numbers.ts';
import { Time } from '../../parts/words/time.tsx';

/** Whether it tells, and whether there is something that it could not tell. */
export const WebhookState = ({ webhook }: { webhook: Item<'listWebhooks'> }) => {
  const { state, waiting, parkedAt } = webhook;
  return (
    <div className="row">
      <span className={`badge ${state === 'on' ? 'good' : 'bad'}`}>{state}</span>
      {waiting > 0 && <span className="badge warn">{countWords(waiting, 'event')} waiting</span>}
      {parkedAt && (
        <span className="badge warn">
          gave one up <Time at={parkedAt} />
        </span>
      )}
    </div>
  );
};
