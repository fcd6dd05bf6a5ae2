import { useState } from 'react';
import type { Item } from '../../../api/operation-types.ts';
import { useCall, useChange, usePages } from '../../../api/queries.ts';
import { ApiCall } from '../../../parts/api-call.tsx';
import { confirm } from '../../../parts/dialogs/confirm.tsx';
import { Modal } from '../../../parts/dialogs/modal.tsx';
import { Empty } from '../../../parts/lists/empty.tsx';
import { Listed } from '../../../parts/lists/listed.tsx';
import { Loading } from '../../../parts/lists/loading.tsx';
import { WideTable } from '../../../parts/lists/wide-table.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { Screen } from '../../../parts/screen.tsx';
import { Snippet } from '../../../parts/snippet.tsx';
import { notify } from '../../../parts/toasts.tsx';
import { Time } from '../../../parts/words/time.tsx';

type ParkedEvent = Item<'listParkedEvents'>;

const nameOf = ({ topic }: ParkedEvent) => topic ?? 'a message that is no event';

/** What it says and why it stays, with the two ways out. */
const OneEvent = ({ event, onClose }: { event: ParkedEvent; onClose(): void }) => {
  const { service, id } = event;
  const params = { service, parkedId: id };
  const { data, error } = useCall('getParkedEvent', { params }, { as: 'operator' });
  const options = { as: 'operator', changes: ['listParkedEvents'] } as const;
  const replay = useChange('replayParkedEvent', options);
  const drop = useChange('dropParkedEvent', options);
  const sendAgain = async () => {
    await replay.mutateAsync({ params });
    notify('It is handed over once more; if it fails again it comes back');
    onClose();
  };
  const giveUp = async () => {
    const isSure = await confirm({
      title: 'Give this event up?',
      says: `What ${service} would have done with it is never done. It can not be brought back.`,
      action: 'Drop event',
      isDangerous: true,
    });
    if (!isSure) return;
    await drop.mutateAsync({ params });
    notify('The event is dropped');
    onClose();
  };
  return (
    <Modal title={nameOf(event)} isOpen onClose={onClose} isWide>
      <div className="callout bad">{event.error}</div>
      {!data && !error && <Loading />}
      {data && <Snippet text={JSON.stringify(data.payload, null, 2)} />}
      <Problem error={error ?? replay.error ?? drop.error} />
      <footer className="row end">
        <button
          type="button"
          className="danger"
          onClick={() => void giveUp().catch(() => undefined)}
        >
          Drop…
        </button>
        <button
          type="button"
          className="primary"
          disabled={replay.isPending}
          onClick={() => void sendAgain().catch(() => undefined)}
        >
          Replay
        </button>
      </footer>
    </Modal>
  );
};

/** Events that no service could take, after all tries. */
export const ParkedScreen = () => {
  const [shown, setShown] = useState<ParkedEvent>();
  const input = { query: { limit: 50 } };
  const pages = usePages('listParkedEvents', input, { as: 'operator' });
  return (
    <Screen
      title="Parked events"
      says="What services could not do after all tries, newest first. Mend the cause, then replay: what was booked once is not booked again."
      actions={<ApiCall name="listParkedEvents" input={input} as="operator" />}
    >
      <Listed
        pages={pages}
        empty={<Empty title="Nothing is parked">Every event was handled.</Empty>}
      >
        {(events) => (
          <WideTable
            label="Parked events"
            columns={['Event', 'Service', 'Project', 'Error', 'Since']}
          >
            {events.map((event) => (
              <tr key={`${event.service} ${event.id}`}>
                <td className="named">
                  <button type="button" className="link" onClick={() => setShown(event)}>
                    {nameOf(event)}
                  </button>
                </td>
                <td>{event.service}</td>
                <td>{event.projectId}</td>
                <td className="operator-name">{event.error}</td>
                <td>
                  <Time at={event.parkedAt} />
                </td>
              </tr>
            ))}
          </WideTable>
        )}
      </Listed>
      {shown && <OneEvent event={shown} onClose={() => setShown(undefined)} />}
    </Screen>
  );
};
