import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Item } from '../../../api/operation-types.ts';
import { useCall, useChange } from '../../../api/queries.ts';
import { confirm } from '../../../parts/dialogs/confirm.tsx';
import { Modal } from '../../../parts/dialogs/modal.tsx';
import { Loading } from '../../../parts/lists/loading.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { notify, notifyProblem } from '../../../parts/toasts.tsx';
import { formatCount } from '../../../parts/words/numbers.ts';
import { Time } from '../../../parts/words/time.tsx';
import { Suspensions, suspendedWords } from '../suspensions.tsx';
import { countedAs, exampleWords, kindWords, signWords } from './words.ts';

type Finding = Item<'listFindings'>;

const options = { as: 'operator', changes: ['listFindings', 'listAudit'] } as const;

const Evidence = ({ finding }: { finding: Finding }) => (
  <dl className="facts">
    <dt>Project</dt>
    <dd>
      <Link to="/operator/projects/$projectId" params={{ projectId: finding.projectId }}>
        {finding.projectName}
      </Link>
    </dd>
    {finding.subject !== null && (
      <>
        <dt>Collection</dt>
        <dd className="mono">{finding.subject}</dd>
      </>
    )}
    {finding.signs.length > 0 && (
      <>
        <dt>Signs</dt>
        <dd>{finding.signs.map(signWords).join(', ')}</dd>
      </>
    )}
    <dt>{countedAs[finding.kind]}</dt>
    <dd>
      {formatCount(finding.calls)}
      {finding.usualPerHour !== undefined && `, usual in an hour: ${finding.usualPerHour}`}
    </dd>
    {finding.examples.length > 0 && (
      <>
        <dt>{exampleWords(finding.kind)}</dt>
        <dd className="mono operator-name">{finding.examples.join(', ')}</dd>
      </>
    )}
    {finding.networks && finding.networks.length > 0 && (
      <>
        <dt>Networks</dt>
        <dd>
          {finding.networks.map(({ address, calls }) => (
            <div key={address}>
              <span className="mono">{address}</span> {formatCount(calls)}
            </div>
          ))}
        </dd>
      </>
    )}
    <dt>Seen</dt>
    <dd>
      <Time at={finding.since} /> to <Time at={finding.lastSeen} />
    </dd>
    {finding.toldAt !== null && (
      <>
        <dt>Owner told</dt>
        <dd>
          <Time at={finding.toldAt} />
        </dd>
      </>
    )}
  </dl>
);

/** The project's suspensions, with what stops the finding chosen. */
const Suspend = ({ finding }: { finding: Finding }) => {
  const params = { projectId: finding.projectId };
  const { data, error } = useCall('getProject', { params }, { as: 'operator' });
  if (!data) return error ? <Problem error={error} /> : <Loading lines={2} />;
  return (
    <Suspensions
      of={params}
      suspensions={data.suspensions ?? []}
      firstCapability={finding.capability}
    />
  );
};

/** What is known of it, with what the operator can do. */
export const OneFinding = ({ finding, onClose }: { finding: Finding; onClose(): void }) => {
  const [isSuspending, setSuspending] = useState(false);
  const tell = useChange('tellFinding', options);
  const dismiss = useChange('dismissFinding', options);
  const reopen = useChange('reopenFinding', options);
  const params = { findingId: finding.id };
  const { toldAt, dismissedUntil, ownerId } = finding;
  const word = suspendedWords[finding.capability];

  const send = async () => {
    const isSure = await confirm({
      title: 'Tell the owner by mail?',
      says: `The mail names ${finding.projectName}, what was found and what to do. It goes once for each finding.`,
      action: 'Send notice',
    });
    if (!isSure) return;
    await tell.mutateAsync({ params });
    notify('The owner is told by mail');
  };
  const putBack = () => reopen.mutateAsync({ params });
  const leaveOut = async () => {
    await dismiss.mutateAsync({ params, body: { days: 30 } });
    notify('It is out of the list for 30 days', { undo: () => putBack().catch(notifyProblem) });
    onClose();
  };
  const showAgain = async () => {
    await putBack();
    notify('It is in the list again');
    onClose();
  };
  const run = (work: () => Promise<void>) => () => void work().catch(() => undefined);

  return (
    <Modal title={kindWords(finding)} isOpen onClose={onClose} isWide>
      <Evidence finding={finding} />
      {isSuspending && <Suspend finding={finding} />}
      <Problem error={tell.error ?? dismiss.error ?? reopen.error} />
      <footer className="row end">
        {dismissedUntil === null ? (
          <button type="button" disabled={dismiss.isPending} onClick={run(leaveOut)}>
            Dismiss for 30 days
          </button>
        ) : (
          <button type="button" disabled={reopen.isPending} onClick={run(showAgain)}>
            Put back
          </button>
        )}
        {!isSuspending && (
          <button type="button" className="danger" onClick={() => setSuspending(true)}>
            Suspend {word === 'AI' ? word : word.toLowerCase()}…
          </button>
        )}
        <button
          type="button"
          className="primary"
          disabled={tell.isPending || toldAt !== null || ownerId === null}
          onClick={run(send)}
        >
          Send notice…
        </button>
      </footer>
    </Modal>
  );
};
