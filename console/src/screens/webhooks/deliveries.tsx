import { useState } from 'react';
import type { Item } from '../../api/operation-types.ts';
import { useChange, usePages } from '../../api/queries.ts';
import { Empty } from '../../parts/lists/empty.tsx';
import { useFilters } from '../../parts/lists/filters.ts';
import { Listed } from '../../parts/lists/listed.tsx';
import { WideTable } from '../../parts/lists/wide-table.tsx';
import { notify, notifyProblem } from '../../parts/toasts.tsx';
import { countWords } from '../../parts/words/numbers.ts';
import { Time } from '../../parts/words/time.tsx';

type Delivery = Item<'listWebhookDeliveries'>;

const refreshMs = 5000;
const states = {
  waiting: { label: 'waiting', badge: 'warn' },
  delivered: { label: 'taken', badge: 'good' },
  failed: { label: 'given up', badge: 'bad' },
} as const;

const describeTry = ({ status, error, ms }: Delivery['tries'][number]) =>
  `${error ?? `HTTP ${status}`}, ${ms} ms`;

const Tries = ({ delivery }: { delivery: Delivery }) => (
  <ol className="plain-list stack close">
    {delivery.tries.map((attempt) => (
      <li key={attempt.at} className="quiet-text">
        <Time at={attempt.at} />: {describeTry(attempt)}
      </li>
    ))}
    {delivery.nextTryAt && (
      <li className="quiet-text">
        next try <Time at={delivery.nextTryAt} />
      </li>
    )}
    <li className="quiet-text mono">webhook-id {delivery.id}</li>
  </ol>
);

interface DeliveryRowProps {
  projectId: string;
  name: string;
  delivery: Delivery;
}

const DeliveryRow = ({ projectId, name, delivery }: DeliveryRowProps) => {
  const [isOpen, setOpen] = useState(false);
  const replay = useChange('replayWebhook', {
    changes: ['getWebhook', 'listWebhookDeliveries'],
    onSuccess: () => notify(`${delivery.type} is sent again`),
  });
  const { id, type, status, tries, occurredAt } = delivery;
  const last = tries.at(-1);
  return (
    <tr>
      <td>
        <button
          type="button"
          className="link mono"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {type}
        </button>
        {isOpen && <Tries delivery={delivery} />}
      </td>
      <td>
        <span className={`badge ${states[status].badge}`}>{states[status].label}</span>
      </td>
      <td>
        {countWords(tries.length, 'try', 'tries')}
        {last && <div className="quiet-text">{describeTry(last)}</div>}
      </td>
      <td>
        <Time at={occurredAt} />
      </td>
      <td className="number">
        {status !== 'waiting' && (
          <button
            type="button"
            className="small"
            aria-label={`Send again: ${type}`}
            disabled={replay.isPending}
            onClick={() =>
              void replay
                .mutateAsync({ params: { projectId, name }, body: { id } })
                .catch(notifyProblem)
            }
          >
            Send again
          </button>
        )}
      </td>
    </tr>
  );
};

/** The log of a webhook: each event, its tries, and a button that sends it again. */
export const Deliveries = ({ projectId, name }: { projectId: string; name: string }) => {
  const [{ status }, change] = useFilters();
  const pages = usePages(
    'listWebhookDeliveries',
    { params: { projectId, name }, query: { status } },
    { everyMs: refreshMs },
  );
  return (
    <section className="stack" aria-label="Deliveries">
      <div className="spread">
        <h2>Deliveries</h2>
        <select
          className="state-filter"
          aria-label="State"
          value={status ?? ''}
          onChange={({ target }) => change({ status: target.value })}
        >
          <option value="">All states</option>
          {Object.entries(states).map(([state, { label }]) => (
            <option key={state} value={state}>
              {label}
            </option>
          ))}
        </select>
      </div>
      <Listed
        pages={pages}
        empty={
          <Empty title={status ? 'Nothing in this state' : 'Nothing sent yet'}>
            What happens in your app from now on, and is among what this webhook tells, stands here
            with each try.
          </Empty>
        }
      >
        {(deliveries) => (
          <WideTable
            label="What was sent"
            columns={['Event', 'State', 'Tries', 'Happened', { label: 'Actions', isHidden: true }]}
          >
            {deliveries.map((delivery) => (
              <DeliveryRow
                key={delivery.id}
                projectId={projectId}
                name={name}
                delivery={delivery}
              />
            ))}
          </WideTable>
        )}
      </Listed>
    </section>
  );
};
