import type { Item } from '../../api/operation-types.ts';
import { Time } from '../words/time.tsx';
import { WideTable } from './wide-table.tsx';

type Event = Item<'listUserEvents'>;

const words: Record<Event['kind'], string> = {
  signed_in: 'Signed in',
  failed: 'Failed to sign in',
  signed_out: 'Signed out',
  password_changed: 'Password changed',
  email_changed: 'Address changed',
  factor_added: 'Authenticator app added',
  factor_removed: 'Authenticator app removed',
  recovery_codes_renewed: 'Recovery codes renewed',
  passkey_added: 'Passkey added',
  passkey_removed: 'Passkey removed',
  identity_linked: 'Provider linked',
  identity_removed: 'Provider removed',
  guest_merged: 'Guest merged',
};

const columns = ['When', 'What', 'How', 'Device', 'Network'];

/** What happened to somebody's sign-in. */
export const EventTable = ({ events }: { events: readonly Event[] }) => (
  <WideTable label="Sign-in events" columns={columns}>
    {events.map(({ id, kind, detail, device, network, times, lastAt }) => (
      <tr key={id}>
        <td>
          <Time at={lastAt} />
        </td>
        <td>
          <span className={kind === 'failed' ? 'badge warn' : undefined}>
            {words[kind] ?? kind}
          </span>
          {times > 1 && ` ${times} times`}
        </td>
        <td className="cut">{detail ?? '–'}</td>
        <td className="cut">{device ?? '–'}</td>
        <td className="mono">{network ?? '–'}</td>
      </tr>
    ))}
  </WideTable>
);
