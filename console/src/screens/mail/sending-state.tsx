import { useCall } from '../../api/queries.ts';
import { Problem } from '../../parts/problem.tsx';
import { countWords } from '../../parts/words/numbers.ts';
import { Stopped } from './stopped.tsx';

/** Says so where mails are held back, and how many wait. */
export const SendingState = ({ projectId }: { projectId: string }) => {
  const { data: state, error, refetch } = useCall('getSendingState', { params: { projectId } });
  if (error) return <Problem error={error} again={() => void refetch()} />;
  if (!state) return null;
  const { stopped, visitorsStopped, waiting } = state;
  const whoResumes =
    'Who runs this installation lets it go on: mend what bounces, then write to them.';
  return (
    <>
      {stopped && (
        <Stopped title="This project may not send." stop={stopped}>
          What it has queued waits, for a day. {whoResumes}
        </Stopped>
      )}
      {visitorsStopped && (
        <Stopped title="Visitors may not mail others." stop={visitorsStopped}>
          Mails of yours, of keys and of accounts go on. {whoResumes}
        </Stopped>
      )}
      {waiting > 0 && <p className="quiet-text">{countWords(waiting, 'mail')} wait to be sent.</p>}
    </>
  );
};
