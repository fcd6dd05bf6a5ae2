import { button, field, submit } from '../dom.ts';
import type { Form, Step } from '../form.ts';

/** Asks for the link for a new password. */
export const forgotStep = (form: Form): Step => {
  const { auth, words, kept } = form;
  const toSignIn = () => form.go('signIn');
  return {
    title: words.forgotTitle,
    says: words.forgotSays,
    content: [
      field('email', words.email, {
        type: 'email',
        autocomplete: 'username',
        required: true,
        value: kept.email,
      }),
      submit(words.forgotSend),
      button(words.back, toSignIn, 'link'),
    ],
    async onSubmit({ email = '' }) {
      kept.email = email;
      await auth.forgotPassword(email);
      toSignIn();
      form.notify(words.forgotten);
    },
  };
};
