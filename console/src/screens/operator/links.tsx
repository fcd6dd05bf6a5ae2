import { Link } from '@tanstack/react-router';
import { useCall } from '../../api/queries.ts';

/** By the address, which is looked up; by the id until it is there. */
export const OwnerLink = ({ ownerId }: { ownerId: string | null }) => {
  const { data } = useCall(
    'getUser',
    { params: { projectId: 'platform', userId: ownerId ?? '' } },
    { as: 'operator', enabled: ownerId !== null },
  );
  if (ownerId === null) return <span className="quiet-text">nobody</span>;
  return (
    <Link to="/operator/owners/$ownerId" params={{ ownerId }}>
      {data?.email ?? <span className="mono">{ownerId}</span>}
    </Link>
  );
};

const tones = { active: 'good', paused: 'warn', deleted: 'bad' } as const;

export const Status = ({ status }: { status: keyof typeof tones }) => (
  <span className={`badge ${tones[status]}`}>{status}</span>
);
