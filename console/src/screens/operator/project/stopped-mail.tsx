import { useCall, useChange } from '../../../api/queries.ts';
import { Problem } from '../../../parts/problem.tsx';
import { notify, notifyProblem } from '../../../parts/toasts.tsx';
import { countWords } from '../../../parts/words/numbers.ts';
import { Stopped } from '../../mail/stopped.tsx';

/** Lets a project send again that was stopped for bounces or complaints. */
export const StoppedMail = ({ projectId }: { projectId: string }) => {
  const input = { params: { projectId } };
  const { data, error, refetch } = useCall('getSendingState', input, { as: 'operator' });
  const resume = useChange('resumeEmails', { as: 'operator', changes: ['getSendingState'] });
  if (error) return <Problem error={error} again={() => void refetch()} />;
  const stop = data?.stopped ?? data?.visitorsStopped;
  if (!data || !stop) return null;
  const letGo = async () => {
    await resume.mutateAsync(input);
    notify('The project sends mail again');
  };
  return (
    <section className="section" aria-labelledby="stopped-mail">
      <div className="spread">
        <h2 id="stopped-mail">Mail</h2>
        <button
          type="button"
          disabled={resume.isPending}
          onClick={() => void letGo().catch(notifyProblem)}
        >
          Let it send again
        </button>
      </div>
      <Stopped
        title={data.stopped ? 'It may not send.' : 'Its visitors may not mail others.'}
        stop={stop}
      >
        {countWords(data.waiting, 'mail')} wait.
      </Stopped>
    </section>
  );
};
