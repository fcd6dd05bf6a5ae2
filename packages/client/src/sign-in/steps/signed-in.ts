import type { User } from '../../calls/auth.ts';
import { button, h } from '../dom.ts';
import type { Form, Step } from '../form.ts';
import { fill } from '../words.ts';

/** Who has signed in, and the way out. */
export const signedInStep = (form: Form, user: User): Step => {
  const { auth, words } = form;
  const { email } = user;
  const again =
    email === null || user.emailVerified
      ? []
      : [
          h('p', { class: 'says' }, fill(words.unconfirmed, { email })),
          button(words.sendLinkAgain, () => {
            void form.attempt(async () => {
              await auth.resendVerification();
              form.notify(fill(words.linkSent, { email }));
            });
          }),
        ];
  return {
    title: words.signedIn,
    says: fill(words.signedInAs, { who: user.name ?? user.email ?? '' }),
    content: [
      ...again,
      button(words.signOut, () => {
        void form.attempt(async () => {
          await auth.signOut();
          form.go('signIn');
        });
      }),
    ],
  };
};
