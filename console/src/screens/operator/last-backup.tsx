import { Link } from '@tanstack/react-router';
import { useCall } from '../../api/queries.ts';
import { Problem } from '../../parts/problem.tsx';
import { Time } from '../../parts/words/time.tsx';

/** A line: what would come back. */
export const LastBackup = () => {
  const { data, error, refetch } = useCall('listBackups', {}, { as: 'operator', everyMs: 10_000 });
  if (!data) return <Problem error={error} again={() => void refetch()} />;
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
