import type { Item } from '../../../api/operation-types.ts';

type State = Pick<Item<'listUsers'>, 'blocked' | 'emailVerified' | 'isGuest'>;

/** In a word: blocked, a guest, or whether the address is verified. */
export const UserState = ({ user: { blocked, emailVerified, isGuest } }: { user: State }) => {
  if (blocked) return <span className="badge bad">blocked</span>;
  if (isGuest) return <span className="badge">guest</span>;
  return emailVerified ? (
    <span className="badge good">verified</span>
  ) : (
    <span className="badge warn">not verified</span>
  );
};
