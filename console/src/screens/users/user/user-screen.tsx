import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { Answer } from '../../../api/operation-types.ts';
import { useCall, useChange } from '../../../api/queries.ts';
import { useWhyNot } from '../../../api/roles.ts';
import { ApiCall } from '../../../parts/api-call.tsx';
import { Loading } from '../../../parts/lists/loading.tsx';
import { type Choice, MoreMenu } from '../../../parts/menu.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { Screen } from '../../../parts/screen.tsx';
import { CopyButton } from '../../../parts/snippet.tsx';
import { Takes } from '../../../parts/takes.tsx';
import { notify, notifyProblem } from '../../../parts/toasts.tsx';
import { exactWords, Time } from '../../../parts/words/time.tsx';
import { userLabel } from '../../../parts/words/user-label.ts';
import { inOrder } from '../../../parts/words/visible-text.ts';
import { BlockUser } from './block-user.tsx';
import { EraseUser } from './erase-user.tsx';
import { ExportUser } from './export-user.tsx';
import { RoleForm } from './role-form.tsx';
import { SessionList } from './session-list.tsx';
import { blocking, useBlock } from './use-block.ts';
import { UserEvents } from './user-events.tsx';
import { UserFactors } from './user-factors.tsx';
import { UserRecords } from './user-records.tsx';
import { UserState } from './user-state.tsx';
import '../users.css';

type User = Answer<'getUser'>;
type Open = 'block' | 'erase' | 'export';

const reads = ['getUser', 'listUsers'] as const;

const Facts = ({ user, projectId }: { user: User; projectId: string }) => {
  const isRefused = useWhyNot()('exportUser') !== undefined;
  const account = useCall(
    'exportUser',
    { params: { projectId, userId: user.id } },
    { enabled: !isRefused },
  );
  const groups = account.data?.groups ?? [];
  const kept = { ...user.profile };
  return (
    <dl className="facts">
      <dt>Id</dt>
      <dd className="row">
        <span className="mono">{user.id}</span> <CopyButton text={user.id} />
      </dd>
      <dt>Address</dt>
      <dd>{user.email ?? <span className="quiet-text">none: a guest</span>}</dd>
      <dt>Joined</dt>
      <dd>
        <Time at={user.createdAt} />
      </dd>
      <dt hidden={isRefused}>Groups</dt>
      <dd className="row" hidden={isRefused}>
        {groups.length === 0 && <span className="quiet-text">none</span>}
        {groups.map(({ id, name, role }) => (
          <span key={id}>
            <Link to="/projects/$projectId/groups/$groupId" params={{ projectId, groupId: id }}>
              {name}
            </Link>{' '}
            <span className="quiet-text">{role}</span>
          </span>
        ))}
      </dd>
      <dt>Files</dt>
      <dd>
        <Link to="/projects/$projectId/files" params={{ projectId }} search={{ owner: user.id }}>
          What they have uploaded
        </Link>
      </dd>
      {Object.keys(kept).length > 0 && (
        <>
          <dt>Profile</dt>
          <dd>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it with the arrows */}
            <pre className="profile" tabIndex={0}>
              {JSON.stringify(kept, null, 2)}
            </pre>
          </dd>
        </>
      )}
    </dl>
  );
};

const Blocked = ({ user, unblock }: { user: User; unblock(): void }) => {
  if (!user.blocked) return null;
  const { reason, until } = user.blocked;
  return (
    <div className="callout bad spread">
      <div>
        <p>
          <strong>Blocked {until ? `until ${exactWords(until)}` : 'for good'}.</strong> They read
          what anyone reads, and change nothing.
        </p>
        {reason && (
          <p>
            They are told: <bdi>{inOrder(reason)}</bdi>
          </p>
        )}
      </div>
      <Takes name={blocking}>
        <button type="button" onClick={unblock}>
          Unblock
        </button>
      </Takes>
    </div>
  );
};

/** One user: what is known of them, where they are signed in, and what can be done. */
export const UserScreen = () => {
  const { projectId, userId } = useParams({
    from: '/signed-in/projects/$projectId/users/$userId',
  });
  const params = { projectId, userId };
  const [open, setOpen] = useState<Open>();
  const query = useCall('getUser', { params });
  const update = useChange('updateUser', { changes: reads });
  const mailLink = useChange('forgotPassword');
  const navigate = useNavigate();
  const user = query.data;
  const close = () => setOpen(undefined);
  const { change: changeBlock } = useBlock(projectId, userId);
  const unblock = () =>
    void changeBlock({ blocked: false }).then(
      () => notify('They are blocked no more'),
      notifyProblem,
    );
  if (!user)
    return (
      <Screen title="User">
        {query.error ? (
          <Problem error={query.error} again={() => void query.refetch()} />
        ) : (
          <Loading />
        )}
      </Screen>
    );
  const { email, name, emailVerified, blocked } = user;
  const ofAddress: Choice[] =
    email === null
      ? []
      : [
          {
            label: 'Mail a link for a new password',
            takes: 'forgotPassword',
            onSelect: () =>
              mailLink.mutate(
                { project: projectId, body: { email } },
                {
                  onSuccess: () => notify(`A link was mailed to ${email}`),
                  onError: notifyProblem,
                },
              ),
          },
          {
            label: emailVerified
              ? 'Mark the address as not verified'
              : 'Mark the address as verified',
            takes: 'updateUser',
            onSelect: () =>
              update.mutate(
                { params, body: { emailVerified: !emailVerified } },
                { onError: notifyProblem },
              ),
          },
        ];
  const choices: Choice[] = [
    ...ofAddress,
    blocked
      ? { label: 'Unblock', onSelect: unblock, takes: blocking }
      : { label: 'Block…', onSelect: () => setOpen('block'), takes: blocking },
    { label: 'Export everything…', onSelect: () => setOpen('export'), takes: 'exportUser' },
    {
      label: 'Erase…',
      onSelect: () => setOpen('erase'),
      isDangerous: true,
      takes: 'deleteUser',
    },
  ];
  return (
    <Screen
      title={name ?? userLabel(user)}
      says={<UserState user={user} />}
      actions={
        <>
          <Link to="/projects/$projectId/users" params={{ projectId }} className="button quiet">
            All users
          </Link>
          <ApiCall name="getUser" input={{ params }} />
          <MoreMenu label="More" choices={choices}>
            Do…
          </MoreMenu>
        </>
      }
    >
      <Blocked user={user} unblock={unblock} />
      <Facts user={user} projectId={projectId} />
      <Takes name="updateUser">
        <RoleForm key={user.role} projectId={projectId} userId={userId} role={user.role} />
      </Takes>
      <Takes name="endUserSessions">
        <SessionList projectId={projectId} userId={userId} />
      </Takes>
      <Takes name="resetUserFactors">
        <UserFactors projectId={projectId} userId={userId} />
      </Takes>
      <UserEvents projectId={projectId} userId={userId} />
      <UserRecords projectId={projectId} userId={userId} />
      {open === 'block' && <BlockUser user={user} projectId={projectId} onClose={close} />}
      {open === 'export' && <ExportUser user={user} projectId={projectId} onClose={close} />}
      {open === 'erase' && (
        <EraseUser
          user={user}
          projectId={projectId}
          onClose={close}
          onErased={() =>
            void navigate({ to: '/projects/$projectId/users', params: { projectId } })
          }
        />
      )}
    </Screen>
  );
};
