import { useParams } from '@tanstack/react-router';
import { useCall, useChange, usePages } from '../../../api/queries.ts';
import { ApiCall } from '../../../parts/api-call.tsx';
import { confirm } from '../../../parts/dialogs/confirm.tsx';
import { Listed } from '../../../parts/lists/listed.tsx';
import { Loading } from '../../../parts/lists/loading.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { Screen } from '../../../parts/screen.tsx';
import { notify, notifyProblem } from '../../../parts/toasts.tsx';
import { Time } from '../../../parts/words/time.tsx';
import { ProjectTable } from '../project-table.tsx';
import { Suspensions } from '../suspensions.tsx';
import { OwnerCredits } from './owner-credits.tsx';
import '../operator.css';

/** One owner: who it is, their credits and their projects. */
export const OwnerScreen = () => {
  const { ownerId } = useParams({ from: '/operator/owners/$ownerId' });
  const input = { params: { projectId: 'platform', userId: ownerId } };
  const owner = useCall('getUser', input, { as: 'operator' });
  const projects = usePages('listProjects', { query: { ownerId, limit: 50 } }, { as: 'operator' });
  const update = useChange('updateUser', { as: 'operator', changes: ['getUser', 'listOwners'] });
  const suspensions = useCall(
    'listSuspensions',
    { query: { ownerId, limit: 100 } },
    { as: 'operator' },
  );
  const { data } = owner;
  const isBlocked = Boolean(data?.blocked);
  const setBlocked = (blocked: boolean) => update.mutateAsync({ ...input, body: { blocked } });
  const toggle = async () => {
    if (!isBlocked) {
      const isSure = await confirm({
        title: `Block ${data?.email}?`,
        says: 'They are signed out and can not sign in. Their apps and secret keys go on until you pause the projects.',
        action: 'Block owner',
        isDangerous: true,
      });
      if (!isSure) return;
    }
    await setBlocked(!isBlocked);
    notify(isBlocked ? 'The owner may sign in again' : 'The owner is blocked', {
      undo: () => setBlocked(isBlocked).catch(notifyProblem),
    });
  };
  return (
    <Screen
      title={data?.email ?? 'Owner'}
      says={data?.name}
      actions={
        <>
          <ApiCall name="getUser" input={input} as="operator" />
          {data && (
            <button
              type="button"
              disabled={update.isPending}
              onClick={() => void toggle().catch(notifyProblem)}
            >
              {isBlocked ? 'Unblock owner' : 'Block owner…'}
            </button>
          )}
        </>
      }
    >
      <Problem error={owner.error} again={() => void owner.refetch()} />
      {!data && !owner.error && <Loading />}
      {data && (
        <dl className="facts">
          <dt>Id</dt>
          <dd className="mono">{data.id}</dd>
          <dt>Address</dt>
          <dd>{data.emailVerified ? 'verified' : 'not verified'}</dd>
          <dt>Since</dt>
          <dd>
            <Time at={data.createdAt} />
          </dd>
        </dl>
      )}
      {suspensions.data && (
        <Suspensions
          of={{ ownerId }}
          suspensions={suspensions.data.items.filter(({ of }) => of === 'owner')}
        />
      )}
      <OwnerCredits ownerId={ownerId} />
      <section className="section" aria-labelledby="projects">
        <h2 id="projects">Their projects</h2>
        <Listed pages={projects} empty={<p className="quiet-text">This owner has none.</p>}>
          {(items) => <ProjectTable projects={items} />}
        </Listed>
      </section>
    </Screen>
  );
};
