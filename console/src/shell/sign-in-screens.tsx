import { Link, useRouter, useSearch } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { SignInForm } from './sign-in-form.tsx';
import type { SignInSearch } from './sign-in-search.ts';

const Page = ({ title, children }: { title: string; children: ReactNode }) => {
  useEffect(() => {
    document.title = `${title} · Backlot`;
  }, [title]);
  return (
    <main className="page narrow">
      <a href="/" aria-label="Backlot: the front page">
        <img className="mark" src="/design/mark.svg" alt="" />
      </a>
      {children}
    </main>
  );
};

/** Then to where one wanted to go. */
const useGoOn = () => {
  const { to = '/' } = useSearch({ strict: false }) as { to?: string };
  const router = useRouter();
  return () => router.history.push(router.basepath.replace(/\/$/, '') + to);
};

const linkSays = {
  over: 'This link has signed somebody in already, or was printed at an earlier start. The next one is printed where Backlot runs, when it starts again. Until then, sign in here: the owner’s address and password are printed below the link.',
  password:
    'The owner’s password is not the printed one any more, so this link signs nobody in. Sign in with the password that was chosen since.',
};

const LinkSays = () => {
  const { link } = useSearch({ strict: false }) as SignInSearch;
  if (!link) return null;
  return (
    <p className="callout info" role="status">
      {linkSays[link]}
    </p>
  );
};

export const SignInScreen = () => (
  <Page title="Sign in">
    <LinkSays />
    <SignInForm start="signIn" headingLevel={1} onDone={useGoOn()} />
    <p className="quiet-text">
      You run this installation? <Link to="/operator">Sign in as the operator</Link>
    </p>
  </Page>
);

export const SignUpScreen = () => (
  <Page title="Create your account">
    <SignInForm start="signUp" headingLevel={1} onDone={useGoOn()} />
    <p className="quiet-text">
      You own your projects and see all that is in them. It costs nothing to begin.
    </p>
  </Page>
);

export const ForgotScreen = () => (
  <Page title="Forgot the password?">
    <SignInForm start="forgot" headingLevel={1} onDone={useGoOn()} />
  </Page>
);
