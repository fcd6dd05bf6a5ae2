import { Link } from '@tanstack/react-router';
import { useCall } from '../../api/queries.ts';
import { Time } from '../../parts/words/time.tsx';

/** A line: what would come back. */
export const LastBackup = () => {
  const { data } = useCall('listBackups', {}, { as: 'operator', everyMs: 60_000 });
  if (!data) return null;
  const [last] = data.items;
  return (
    <p>
      {last ? (
        <>
          The last back-up is as of <Time at={last.beganAt} />,{' '}
          {last.verifiedAt === null ? 'not verified' : 'verified'}.{' '}
        </>
      ) : (
        'No back-up is known. '
      )}
      <Link to="/operator/backups">{last ? 'All back-ups' : 'How to make one'}</Link>
    </p>
  );
};
