import { memo } from 'react';
import { WideTable } from '../../parts/lists/wide-table.tsx';
import { countWords, formatCount, formatCredits } from '../../parts/words/numbers.ts';
import { exactWords } from '../../parts/words/time.tsx';
import { CallDetails } from './call-details.tsx';
import { type Gap, hasFailed, itemKey, type LoggedCall, type LogItem } from './call-item.ts';

interface CallRowsProps {
  projectId: string;
  items: readonly LogItem[];
  /** Request id of the call that is looked at. */
  open: string | undefined;
  onOpen(requestId: string | undefined): void;
}

const clock = new Intl.DateTimeFormat('en', { timeStyle: 'medium', hourCycle: 'h23' });
const dayAndClock = new Intl.DateTimeFormat('en', {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});
const dayMs = 24 * 3600 * 1000;

const Clock = ({ at }: { at: string }) => {
  const isToday = Date.now() - Date.parse(at) < dayMs;
  return (
    <time dateTime={at} title={exactWords(at)}>
      {(isToday ? clock : dayAndClock).format(new Date(at))}
    </time>
  );
};

const kindOfStatus = (status: number) => (status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good');

const GapRow = ({ gap }: { gap: Gap }) => (
  <tr className="gap-row">
    <td>
      <Clock at={gap.at} />
    </td>
    <td colSpan={5}>
      The log was out of reach: {countWords(gap.calls, 'call')} went on and are missing here.
    </td>
  </tr>
);

interface CallRowProps {
  call: LoggedCall;
  isOpen: boolean;
  onOpen(requestId: string | undefined): void;
}

const CallRow = memo(({ call, isOpen, onOpen }: CallRowProps) => {
  const { at, method, path, status, code, ms, caller, millicredits, skipped, requestId } = call;
  const toggle = () => onOpen(isOpen ? undefined : requestId);
  return (
    <tr className={`call-row ${isOpen ? 'open' : ''}`} onClick={toggle}>
      <td>
        <Clock at={at} />
      </td>
      <td>
        <span className={`badge ${kindOfStatus(status)}`}>{status}</span>
      </td>
      <td className="call-path">
        <button
          type="button"
          className="link mono"
          aria-expanded={isOpen}
          onClick={(event) => {
            event.stopPropagation();
            toggle();
          }}
        >
          <span className="call-method">{method}</span> <bdi>{path}</bdi>
        </button>
        {hasFailed(call) && <div className="quiet-text call-error">{call.error ?? code}</div>}
        {skipped > 0 && (
          <div className="quiet-text">
            and {countWords(skipped, 'call')} before it, too many to keep
          </div>
        )}
      </td>
      <td>{caller}</td>
      <td className="number">{formatCount(ms)} ms</td>
      <td className="number">{millicredits ? formatCredits(millicredits) : ''}</td>
    </tr>
  );
});

/** The newest first; one is opened by a click, or by the button in it. */
export const CallRows = ({ projectId, items, open, onOpen }: CallRowsProps) => (
  <WideTable
    label="Calls"
    columns={[
      'Time',
      'Status',
      'Call',
      'Caller',
      { label: 'Took', isNumber: true },
      { label: 'Credits', isNumber: true },
    ]}
  >
    {items.map((item) =>
      item.type === 'gap' ? (
        <GapRow key={itemKey(item)} gap={item} />
      ) : (
        [
          <CallRow
            key={itemKey(item)}
            call={item}
            isOpen={item.requestId === open}
            onOpen={onOpen}
          />,
          item.requestId === open && (
            <tr key={`${itemKey(item)} details`} className="details-row">
              <td colSpan={6}>
                <CallDetails projectId={projectId} call={item} />
              </td>
            </tr>
          ),
        ]
      ),
    )}
  </WideTable>
);
