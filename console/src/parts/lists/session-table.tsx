import { Time } from '../words/time.tsx';
import { WideTable } from './wide-table.tsx';

interface ShownSession {
  id: string;
  device: string | null;
  network: string | null;
  createdAt: string;
  lastUsedAt: string | null;
  /** The one in which it is shown, which is not ended here. */
  isCurrent?: boolean;
}

interface SessionTableProps {
  label: string;
  sessions: readonly ShownSession[];
  isEnding: boolean;
  onEnd(id: string): void;
}

const columns = ['Device', 'Network', 'Began', 'Last used', { label: 'Actions', isHidden: true }];

/** Where somebody is signed in, each with a button that ends it. */
export const SessionTable = ({ label, sessions, isEnding, onEnd }: SessionTableProps) => (
  <WideTable label={label} columns={columns}>
    {sessions.map(({ id, device, network, createdAt, lastUsedAt, isCurrent }) => (
      <tr key={id}>
        <td>
          {device ?? 'unknown'} {isCurrent && <span className="badge accent">this one</span>}
        </td>
        <td className="mono">{network ?? '–'}</td>
        <td>
          <Time at={createdAt} />
        </td>
        <td>
          <Time at={lastUsedAt} />
        </td>
        <td>
          <div className="row end">
            {!isCurrent && (
              <button type="button" className="small" disabled={isEnding} onClick={() => onEnd(id)}>
                End
              </button>
            )}
          </div>
        </td>
      </tr>
    ))}
  </WideTable>
);
