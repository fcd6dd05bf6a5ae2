import type { User } from '../../calls/auth.ts';
import { button } from '../dom.ts';
import type { Form, Step } from '../form.ts';
import { fill } from '../words.ts';

/** Who has signed in, and the way out. */
export const signedInStep = (form: Form, user: User): Step => {
  const { auth, words } = form;
  return {
    title: words.signedIn,
    says: fill(words.signedInAs, { who: user.name ?? user.email ?? '' }),
    content: [
      button(words.signOut, () => {
        void form.attempt(async () => {
          await auth.signOut();
          form.go('signIn');
        });
      }),
    ],
  };
};
