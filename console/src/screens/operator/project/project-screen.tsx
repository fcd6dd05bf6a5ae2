import { useParams } from '@tanstack/react-router';
import { useCall, useChange } from '../../../api/queries.ts';
import { ApiCall } from '../../../parts/api-call.tsx';
import { confirm } from '../../../parts/dialogs/confirm.tsx';
import { Loading } from '../../../parts/lists/loading.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { Screen } from '../../../parts/screen.tsx';
import { notify, notifyProblem } from '../../../parts/toasts.tsx';
import { countWords, formatCredits } from '../../../parts/words/numbers.ts';
import { Time } from '../../../parts/words/time.tsx';
import { DayChart } from '../../usage/day-chart.tsx';
import { dayBefore, fillDays } from '../../usage/days.ts';
import { OwnerLink, Status } from '../links.tsx';
import { Suspensions } from '../suspensions.tsx';
import { Failures } from './failures.tsx';
import { LimitsForm } from './limits-form.tsx';
import { StoppedMail } from './stopped-mail.tsx';
import '../../usage/usage.css';
import '../operator.css';

const days = 30;

const Spent = ({ projectId }: { projectId: string }) => {
  const input = { params: { projectId }, query: { from: dayBefore(days - 1) } };
  const { data, error, refetch } = useCall('getUsage', input, { as: 'operator' });
  return (
    <section className="section" aria-labelledby="spent">
      <div className="spread">
        <h2 id="spent">Spent by day</h2>
        {data && (
          <span className="quiet-text">
            {formatCredits(data.millicredits)} credits for {countWords(data.calls, 'priced call')}
          </span>
        )}
      </div>
      <Problem error={error} again={() => void refetch()} />
      {!data && !error && <Loading lines={2} />}
      {data && (
        <DayChart
          label="Credits"
          format={(credits) => formatCredits(credits * 1000)}
          days={fillDays(
            days,
            data.items.map(({ day = '', millicredits }) => ({ day, value: millicredits / 1000 })),
          )}
        />
      )}
    </section>
  );
};

/** One project as the operator sees it: who owns it, what it spends and may, what fails in it. */
export const ProjectScreen = () => {
  const { projectId } = useParams({ from: '/operator/projects/$projectId' });
  const input = { params: { projectId } };
  const project = useCall('getProject', input, { as: 'operator' });
  const update = useChange('updateProject', {
    as: 'operator',
    changes: ['getProject', 'listProjects', 'listTopSpenders'],
  });
  const { data } = project;
  const setStatus = (status: 'active' | 'paused') =>
    update.mutateAsync({ ...input, body: { status } });
  const resume = async () => {
    await setStatus('active');
    notify('The project takes calls again');
  };
  const pause = async () => {
    const isSure = await confirm({
      title: `Pause ${data?.name}?`,
      says: 'Every call of its app is refused, and its owner can not resume it: only you can.',
      action: 'Pause project',
      isDangerous: true,
    });
    if (!isSure) return;
    await setStatus('paused');
    notify('The project is paused', { undo: () => resume().catch(notifyProblem) });
  };
  return (
    <Screen
      title={data?.name ?? 'Project'}
      actions={
        <>
          <ApiCall name="getProject" input={input} as="operator" />
          {data && (
            <button
              type="button"
              disabled={update.isPending}
              onClick={() =>
                void (data.status === 'paused' ? resume() : pause()).catch(notifyProblem)
              }
            >
              {data.status === 'paused' ? 'Resume project' : 'Pause project…'}
            </button>
          )}
        </>
      }
    >
      <Problem error={project.error} again={() => void project.refetch()} />
      {!data && !project.error && <Loading />}
      {data && (
        <>
          <dl className="facts">
            <dt>State</dt>
            <dd>
              <Status status={data.status} />
            </dd>
            <dt>Id</dt>
            <dd className="mono">{data.id}</dd>
            {data.externalId !== undefined && (
              <>
                <dt>External id</dt>
                <dd className="mono operator-name">{data.externalId}</dd>
              </>
            )}
            <dt>Owner</dt>
            <dd>
              <OwnerLink ownerId={data.ownerId} />
            </dd>
            <dt>Created</dt>
            <dd>
              <Time at={data.createdAt} />
            </dd>
          </dl>
          <Suspensions of={{ projectId }} suspensions={data.suspensions ?? []} />
          <StoppedMail projectId={projectId} />
          <LimitsForm projectId={projectId} />
          <Spent projectId={projectId} />
          <Failures projectId={projectId} />
        </>
      )}
    </Screen>
  );
};
