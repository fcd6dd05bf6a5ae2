import type { User } from '@backlot/client';
import { useEffect, useState } from 'react';
import { client } from './backend.ts';
import { Problem } from './problem.tsx';
import { SignIn } from './sign-in.tsx';
import { TodoList } from './todo-list.tsx';

export const App = () => {
  /** Undefined until it is known who is signed in. */
  const [user, setUser] = useState<User | null>();
  const [problem, setProblem] = useState<unknown>();

  useEffect(() => {
    client.auth.me().then(setUser, setProblem);
    return client.auth.onChange(setUser);
  }, []);

  return (
    <main>
      <header>
        <h1>To-do list</h1>
        {user && (
          <p>
            {user.name ?? user.email}{' '}
            <button type="button" onClick={() => client.auth.signOut().catch(setProblem)}>
              Sign out
            </button>
          </p>
        )}
      </header>
      <Problem error={problem} />
      {user === undefined && !problem && <p role="status">Loading …</p>}
      {user === null && <SignIn />}
      {user && <TodoList key={user.id} />}
    </main>
  );
};
