import { Link, Outlet, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useEffect, useMemo, useState } from 'react';
import { signInAsOperator, signOutAsOperator, useOperator } from '../api/operator.ts';
import { forgetAnswers } from '../api/queries.ts';
import { useCommands } from '../parts/commands.ts';
import { Field } from '../parts/field.tsx';
import { Problem } from '../parts/problem.tsx';
import { Frame } from './frame.tsx';
import { Keys } from './keys.tsx';

const pages = [
  { to: '/operator', label: 'Overview' },
  { to: '/operator/load', label: 'Load' },
  { to: '/operator/findings', label: 'Findings' },
  { to: '/operator/owners', label: 'Owners' },
  { to: '/operator/projects', label: 'Projects' },
  { to: '/operator/events', label: 'Parked events' },
  { to: '/operator/backups', label: 'Back-ups' },
  { to: '/operator/keys', label: 'Master keys' },
  { to: '/operator/audit', label: 'Audit log' },
  { to: '/operator/tokens', label: 'Operators' },
] as const;

const OperatorSignIn = ({ hasEnded }: { hasEnded: boolean }) => {
  const [token, setToken] = useState('');
  const [error, setError] = useState<Error | null>(null);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    document.title = 'Operator · Backlot';
    forgetAnswers('operator');
  }, []);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      await signInAsOperator(token.trim());
    } catch (cause) {
      setError(cause as Error);
      setBusy(false);
    }
  };
  return (
    <main className="page narrow">
      <a href="/" aria-label="Backlot: the front page">
        <img className="mark" src="/design/mark.svg" alt="" />
      </a>
      <h1>{hasEnded ? 'The token holds no more' : 'Sign in as the operator'}</h1>
      <form className="stack" onSubmit={(event) => void submit(event)}>
        <Field
          label="Operator token"
          hint={
            <>
              Your own, or the value of <code>BACKLOT_OPERATOR_TOKEN</code>, which{' '}
              <code>pnpm dev</code> prints. It is kept until this tab is closed.
            </>
          }
        >
          {(props) => (
            <input
              {...props}
              type="password"
              autoComplete="off"
              required
              value={token}
              onChange={({ target }) => setToken(target.value)}
            />
          )}
        </Field>
        <Problem error={error} />
        <button type="submit" className="primary" disabled={isBusy}>
          Sign in
        </button>
      </form>
      <p>
        <Link to="/">You own projects? To your own sign-in</Link>
      </p>
    </main>
  );
};

const Operating = () => {
  const navigate = useNavigate();
  useCommands(
    useMemo(
      () =>
        pages.map(({ to, label }) => ({
          group: 'Go to',
          label,
          run: () => void navigate({ to: to as string }),
        })),
      [navigate],
    ),
  );
  return (
    <>
      <Frame
        title="Operator"
        home={{ to: '/operator', label: 'Overview' }}
        account={{ name: 'Operator', signOut: signOutAsOperator }}
        nav={
          <nav aria-label="Operator">
            {pages.map(({ to, label }) => (
              <Link key={to} to={to as string} activeOptions={{ exact: to === '/operator' }}>
                {label}
              </Link>
            ))}
          </nav>
        }
      >
        <Outlet />
      </Frame>
      <Keys />
    </>
  );
};

/** The operator's sign-in, or the screens behind it. */
export const OperatorLayout = () => {
  const session = useOperator();
  return session.state === 'in' ? <Operating /> : <OperatorSignIn hasEnded={session.hasEnded} />;
};
