import { useQueryClient } from '@tanstack/react-query';
import { Outlet, useLocation, useRouter } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef } from 'react';
import { useSecondFactorNeeded } from '../api/second-factor.ts';
import { lookAgain, useSession } from '../api/session.ts';
import { Loading } from '../parts/lists/loading.tsx';
import { Problem } from '../parts/problem.tsx';
import { Keys } from './keys.tsx';
import type { SignInSearch } from './sign-in-search.ts';

const SignInAgain = lazy(() => import('./sign-in-again.tsx'));

/** The session's page, the sign-in in its place, or over it where the session ended meanwhile: so no input is lost. */
export const SignedIn = () => {
  const session = useSession();
  const router = useRouter();
  const queries = useQueryClient();
  const userId = session.state === 'in' ? session.user.id : undefined;
  const lastUserId = useRef(userId);
  useEffect(() => {
    if (userId === undefined) return;
    // Another owner's answers are not shown; those that failed without a session are asked for again.
    if (lastUserId.current !== undefined && lastUserId.current !== userId) queries.clear();
    else void queries.invalidateQueries();
    lastUserId.current = userId;
  }, [userId, queries]);

  const hasEnded = session.state === 'out' && session.hasEnded;
  const isOut = session.state === 'out' && !hasEnded;
  useEffect(() => {
    if (!isOut) return;
    const { href, pathname, search } = router.latestLocation;
    if (pathname === '/sign-in') return;
    const { link } = search as SignInSearch;
    const next = link ? { link } : { to: href };
    void router.navigate({
      to: '/sign-in',
      search: href === '/' ? {} : next,
      replace: true,
    });
  }, [isOut, router]);

  const needsFactor = useSecondFactorNeeded();
  const { pathname } = useLocation();
  useEffect(() => {
    if (needsFactor && pathname !== '/account') void router.navigate({ to: '/account' });
  }, [needsFactor, pathname, router]);

  if (session.state === 'unknown' || isOut)
    return (
      <main className="page">
        {session.state === 'unknown' && session.error ? (
          <>
            <h1>Your session could not be checked</h1>
            <Problem error={session.error} again={lookAgain} />
          </>
        ) : (
          <Loading />
        )}
      </main>
    );
  return (
    <>
      <Outlet />
      <Keys />
      {hasEnded && (
        <Suspense>
          <SignInAgain />
        </Suspense>
      )}
    </>
  );
};
