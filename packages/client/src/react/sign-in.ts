import { createElement, type ReactElement, useEffect, useRef } from 'react';
import type { User } from '../calls/auth.ts';
import type { Client } from '../index.ts';
import type { BacklotSignIn, Words } from '../sign-in/element.ts';

export interface SignInProps {
  // biome-ignore lint/suspicious/noExplicitAny: the client of any project
  client: Client<any>;
  onSignedIn?: (user: User) => void;
  /** `false`: only those who have an account. */
  canSignUp?: boolean;
  /** Of the system, light or dark, unless stated. `plain` has the page's own letters and colours. */
  theme?: 'light' | 'dark' | 'plain' | 'contrast';
  className?: string;
  /** Other words than the usual ones. */
  words?: Partial<Words>;
}

/** The form `<backlot-sign-in>`, which is loaded when it is first shown. */
export const SignIn = ({
  client,
  onSignedIn,
  canSignUp = true,
  theme,
  className,
  words,
}: SignInProps): ReactElement => {
  const place = useRef<HTMLDivElement>(null);
  const told = useRef(onSignedIn);
  told.current = onSignedIn;
  const given = useRef({ canSignUp, theme, words });
  useEffect(() => {
    const { canSignUp, theme, words } = given.current;
    let form: BacklotSignIn | undefined;
    let isGone = false;
    void import('../sign-in/element.ts').then(() => {
      if (isGone) return;
      form = document.createElement('backlot-sign-in') as BacklotSignIn;
      Object.assign(form, { client, words: words ?? {} });
      if (!canSignUp) form.setAttribute('can-sign-up', 'false');
      if (theme) form.setAttribute('theme', theme);
      form.addEventListener('signed-in', (event) =>
        told.current?.((event as CustomEvent<{ user: User }>).detail.user),
      );
      place.current?.append(form);
    });
    return () => {
      isGone = true;
      form?.remove();
    };
  }, [client]);
  return createElement('div', { ref: place, className });
};
