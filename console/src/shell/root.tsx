import { CSPProvider } from '@base-ui/react/csp-provider';
import { type ErrorComponentProps, Link, Outlet } from '@tanstack/react-router';
import { useEffect } from 'react';
import { askAgain, watchSlowCalls } from '../api/slow-calls.ts';
import { Confirmations } from '../parts/dialogs/confirm.tsx';
import { Proofs } from '../parts/dialogs/proof.tsx';
import { Problem } from '../parts/problem.tsx';
import { notifySlow, Toasts } from '../parts/toasts.tsx';

export const Root = () => {
  useEffect(
    () =>
      watchSlowCalls((isSlow, canRepeat) => notifySlow(isSlow, canRepeat ? askAgain : undefined)),
    [],
  );
  return (
    // The policy lets no style element through, and none of its parts that are used here needs one.
    <CSPProvider disableStyleElements>
      <Outlet />
      <Toasts />
      <Confirmations />
      <Proofs />
    </CSPProvider>
  );
};

export const NotFound = () => (
  <main className="page">
    <div className="empty">
      <h1>There is no such page</h1>
      <p>The address may be mistyped, or what stood here may have moved.</p>
      <Link to="/" className="button">
        To your projects
      </Link>
    </div>
  </main>
);

export const RouteProblem = ({ error, reset }: ErrorComponentProps) => (
  <main className="page">
    <h1>This page does not work right now</h1>
    <Problem error={error instanceof Error ? error : new Error(String(error))} again={reset} />
    <div>
      <a href="/console/" className="button">
        To your projects
      </a>
    </div>
  </main>
);
