import type { User } from '@backlot/client';
import '@backlot/client/sign-in';
import type { BacklotSignIn } from '@backlot/client/sign-in';
import { useEffect, useRef } from 'react';
import { entered, ownerAuth } from '../api/session.ts';

interface SignInFormProps {
  start: 'signIn' | 'signUp' | 'forgot';
  /** The address of whom it has to be again: nobody signs up there. */
  email?: string;
  /** Of the form's title: 1 where it is the page's. */
  headingLevel: 1 | 2;
  onDone(): void;
}

const words = {
  email: 'E-mail address',
  signUp: 'Create account',
  toSignUp: 'Create an account',
  toSignIn: 'Sign in to one that you have',
  forgot: 'Forgot the password?',
  forgotTitle: 'Forgot the password?',
};

/** All ways in which an owner signs in, second factor and passkeys included. */
export const SignInForm = ({ start, email, headingLevel, onDone }: SignInFormProps) => {
  const place = useRef<HTMLDivElement>(null);
  const done = useRef(onDone);
  done.current = onDone;
  useEffect(() => {
    const form = document.createElement('backlot-sign-in') as BacklotSignIn;
    Object.assign(form, { client: { auth: ownerAuth }, words });
    form.setAttribute('start', start);
    form.setAttribute('heading-level', String(headingLevel));
    if (email !== undefined) {
      form.setAttribute('email', email);
      form.setAttribute('can-sign-up', 'false');
    }
    form.addEventListener('signed-in', (event) => {
      entered((event as CustomEvent<{ user: User }>).detail.user);
      done.current();
    });
    place.current?.append(form);
    return () => form.remove();
  }, [start, email, headingLevel]);
  return <div ref={place} className="sign-in" />;
};
