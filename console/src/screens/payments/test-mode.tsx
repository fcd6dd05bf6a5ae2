import { Link } from '@tanstack/react-router';
import { useCall } from '../../api/queries.ts';

const Closed = ({ projectId }: { projectId: string }) => (
  <div className="callout bad" role="status">
    <p>
      <strong>Checkouts are closed: nobody can pay.</strong> This project has no keys of Stripe, and
      does not use the test checkout.{' '}
      <Link to={`/projects/${projectId}/payments/keys` as string}>Set keys</Link>
    </p>
  </div>
);

/** Says so where no real money moves, or none at all. */
export const TestMode = ({ projectId }: { projectId: string }) => {
  const { data: state } = useCall('getStripeSecret', { params: { projectId } });
  if (!state || ('mode' in state && state.mode === 'live')) return null;
  if ('testCheckout' in state && !state.testCheckout) return <Closed projectId={projectId} />;
  const isWithout = 'testCheckout' in state;
  return (
    <div className="callout warn" role="status">
      <p>
        <strong>Test mode: no real money moves.</strong>{' '}
        {isWithout
          ? 'This project has no keys of Stripe, so that payers come to the test checkout.'
          : 'The keys that are set are Stripe’s test keys.'}{' '}
        <Link to={`/projects/${projectId}/payments/keys` as string}>
          {isWithout ? 'Connect Stripe' : 'Set live keys'}
        </Link>
      </p>
    </div>
  );
};
