import { useActionState } from 'react';
import { client } from './backend.ts';
import { Problem } from './problem.tsx';

interface Attempt {
  /** As it was typed: a form is empty again once its action is over. */
  email: string;
  problem?: unknown;
}

const enter = async (_before: Attempt, form: FormData): Promise<Attempt> => {
  const email = String(form.get('email'));
  const password = String(form.get('password'));
  try {
    if (form.get('way') === 'sign-up') await client.auth.signUp({ email, password });
    else await client.auth.signIn({ email, password });
    return { email };
  } catch (problem) {
    return { email, problem };
  }
};

export const SignIn = () => {
  const [{ email, problem }, submit, isPending] = useActionState(enter, { email: '' });

  return (
    <form action={submit} className="card">
      <label>
        E-mail{' '}
        <input
          name="email"
          type="email"
          autoComplete="username"
          defaultValue={email}
          key={email}
          required
        />
      </label>
      <label>
        Password <input name="password" type="password" autoComplete="current-password" required />
      </label>
      <Problem error={problem} />
      <div className="row">
        <button type="submit" name="way" value="sign-in" disabled={isPending} className="main">
          Sign in
        </button>
        <button type="submit" name="way" value="sign-up" disabled={isPending}>
          Sign up
        </button>
      </div>
    </form>
  );
};
