import { button, field, submit } from '../dom.ts';
import type { Form, Step } from '../form.ts';
import { fill } from '../words.ts';
import { mergeCheck } from './enter.ts';

/** The six digits of the mail, or of the app on the phone: what browsers fill in by themselves. */
export const codeField = (label: string, values: Readonly<Record<string, string | true>> = {}) =>
  field('code', label, {
    class: 'code',
    autocomplete: 'one-time-code',
    autocapitalize: 'off',
    spellcheck: 'false',
    maxlength: '40',
    required: true,
    ...values,
  });

/** Where the code is typed that was mailed. */
const enterCodeStep = (form: Form, email: string): Step => {
  const { auth, words } = form;
  return {
    title: words.codeTitle,
    says: fill(words.codeSent, { email }),
    content: [
      codeField(words.code, { inputmode: 'numeric' }),
      mergeCheck(form),
      submit(words.signIn),
      button(words.codeAgain, () => void form.attempt(() => sendCode(form, email)), 'link'),
      button(words.back, () => form.go('code'), 'link'),
    ],
    async onSubmit({ code = '' }) {
      const account = { email, code: code.replace(/\D/g, '') };
      form.enter(await auth.verifyCode({ ...account, ...form.merge() }));
    },
  };
};

const sendCode = async (form: Form, email: string) => {
  await form.auth.code(email);
  form.show(enterCodeStep(form, email));
};

/** Asks to whom a code is to be mailed. */
export const codeStep = (form: Form): Step => {
  const { words, kept } = form;
  return {
    title: words.codeTitle,
    says: words.codeSays,
    content: [
      field('email', words.email, {
        type: 'email',
        autocomplete: 'username',
        required: true,
        value: kept.email,
      }),
      submit(words.codeSend),
      button(words.back, () => form.go('signIn'), 'link'),
    ],
    async onSubmit({ email = '' }) {
      kept.email = email;
      await sendCode(form, email);
    },
  };
};
