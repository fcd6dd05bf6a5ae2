import { SignIn, useUser } from '@backlot/client/react';
import { useState } from 'react';
import { client } from './backend.ts';
import { Problem } from './problem.tsx';
import { TodoList } from './todo-list.tsx';

export const App = () => {
  /** Undefined until it is known who is signed in. */
  const user = useUser(client);
  const [problem, setProblem] = useState<unknown>();

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
      {user === null && <SignIn client={client} theme="plain" className="card" />}
      {user && <TodoList key={user.id} />}
    </main>
  );
};
