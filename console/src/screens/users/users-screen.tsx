import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { Item } from '../../api/operation-types.ts';
import { usePages } from '../../api/queries.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { useCommands } from '../../parts/commands.ts';
import { Empty } from '../../parts/lists/empty.tsx';
import { Listed } from '../../parts/lists/listed.tsx';
import { SearchBox } from '../../parts/lists/search-box.tsx';
import { WideTable } from '../../parts/lists/wide-table.tsx';
import { Screen } from '../../parts/screen.tsx';
import { Takes } from '../../parts/takes.tsx';
import { Time } from '../../parts/words/time.tsx';
import { userLabel } from '../../parts/words/user-label.ts';
import { InviteUser } from './invite-user.tsx';
import { RolePowers } from './role-powers.tsx';
import { toUsersSearch, type UsersSearch } from './search.ts';
import { SignUps } from './sign-ups.tsx';
import { UserState } from './user/user-state.tsx';
import './users.css';

const from = '/signed-in/projects/$projectId/users';

const firstUser = (projectId: string) =>
  `curl -s ${location.origin}/api/runtime/${projectId}/auth/signup \\
  --json '{"email":"ada@example.org","password":"a good long password"}'`;

const UserRow = ({ user, projectId }: { user: Item<'listUsers'>; projectId: string }) => (
  <tr>
    <td className="person cut">
      <Link to="/projects/$projectId/users/$userId" params={{ projectId, userId: user.id }}>
        {userLabel(user)}
      </Link>
    </td>
    <td className="person cut">
      <bdi>{user.name}</bdi>
    </td>
    <td>{user.role === 'user' ? <span className="quiet-text">user</span> : user.role}</td>
    <td>
      <UserState user={user} />
    </td>
    <td>
      <Time at={user.createdAt} />
    </td>
  </tr>
);

const Filters = () => {
  const search = useSearch({ from });
  const navigate = useNavigate({ from: '/projects/$projectId/users' });
  const set = (change: { [K in keyof UsersSearch]: string }) =>
    void navigate({
      search: (before) => toUsersSearch({ ...before, ...change }),
      replace: true,
    });
  return (
    <div className="row filters">
      <SearchBox label="Search users" value={search.q ?? ''} onChange={(q) => set({ q })} />
      <select
        aria-label="State"
        value={search.status ?? ''}
        onChange={({ target }) => set({ status: target.value })}
      >
        <option value="">All states</option>
        <option value="verified">Verified</option>
        <option value="unverified">Not verified</option>
        <option value="blocked">Blocked</option>
        <option value="guest">Guests</option>
      </select>
      <select
        aria-label="Order"
        value={search.sort ?? '-createdAt'}
        onChange={({ target }) => set({ sort: target.value })}
      >
        <option value="-createdAt">Newest first</option>
        <option value="createdAt">Oldest first</option>
        <option value="email">By address</option>
      </select>
      {search.role && (
        <button type="button" className="small" onClick={() => set({ role: '' })}>
          Role {search.role} ×
        </button>
      )}
    </div>
  );
};

/** Who has an account in this project. */
export const UsersScreen = () => {
  const { projectId } = useParams({ from });
  const search = useSearch({ from });
  const [isInviting, setInviting] = useState(false);
  const [showsRoles, setShowsRoles] = useState(false);
  const input = { params: { projectId }, query: { ...toUsersSearch(search), limit: 100 } };
  const pages = usePages('listUsers', input, { keepsLast: true });
  const navigate = useNavigate();
  useCommands(
    useMemo(() => [{ group: 'Users', label: 'Invite a user', run: () => setInviting(true) }], []),
  );
  const isFiltered = Boolean(search.q || search.status || search.role);
  const invite = (
    <Takes name="signUp">
      <button type="button" className="primary" onClick={() => setInviting(true)}>
        Invite user
      </button>
    </Takes>
  );
  return (
    <Screen
      title="Users"
      says="Who has an account in this project. The search finds how an address or a name begins."
      actions={
        <>
          <ApiCall name="listUsers" input={input} />
          <button type="button" onClick={() => setShowsRoles(true)}>
            Roles
          </button>
          {invite}
        </>
      }
    >
      <SignUps projectId={projectId} />
      <Filters />
      <Listed
        pages={pages}
        empty={
          isFiltered ? (
            <Empty title="No user is like that">
              The search looks at how addresses and names begin, in any case.
            </Empty>
          ) : (
            <Empty title="No users yet" snippet={firstUser(projectId)} action={invite}>
              Users sign up in your app. Invite one, or make the first by this call.
            </Empty>
          )
        }
      >
        {(users) => (
          <WideTable label="Users" columns={['Address', 'Name', 'Role', 'State', 'Joined']}>
            {users.map((user) => (
              <UserRow key={user.id} user={user} projectId={projectId} />
            ))}
          </WideTable>
        )}
      </Listed>
      {showsRoles && <RolePowers projectId={projectId} onClose={() => setShowsRoles(false)} />}
      <InviteUser
        projectId={projectId}
        isOpen={isInviting}
        onClose={() => setInviting(false)}
        onInvited={(userId) =>
          void navigate({
            to: '/projects/$projectId/users/$userId',
            params: { projectId, userId },
          })
        }
      />
    </Screen>
  );
};
