import { button, check, submit } from '../dom.ts';
import type { Form, Step } from '../form.ts';
import { codeField } from './code.ts';

/** After the password: the code of the authenticator app, or a recovery code. */
export const factorStep = (form: Form): Step => {
  const { auth, words } = form;
  return {
    title: words.factorTitle,
    says: words.factorSays,
    content: [
      codeField(words.factorCode),
      check('remember', words.remember),
      submit(words.factorSend),
      form.ways.passkeys && button(words.passkey, () => form.withPasskey()),
      button(words.back, () => form.go('signIn'), 'link'),
    ],
    async onSubmit({ code = '', remember }) {
      form.enter(await auth.verifyFactor(code, remember === 'yes'));
    },
  };
};
