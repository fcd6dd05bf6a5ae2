import type { Provider } from '../../accounts/answers.ts';
import { button, check, field, h, submit } from '../dom.ts';
import type { Form, Place, Step } from '../form.ts';
import { markOf } from '../icons.ts';
import { fill } from '../words.ts';

const providerButton = (form: Form, { name, label }: Provider): HTMLElement => {
  const text = fill(form.words.signInWith, { provider: label });
  const element = button(
    text,
    () => void form.attempt(async () => form.enter(await form.auth.signInWith(name, form.merge()))),
  );
  const mark = markOf(name);
  if (mark) element.prepend(mark);
  return element;
};

/** Of a guest who may have an account; what is chosen holds for each way to sign in. */
export const mergeCheck = ({ guest, kept, words }: Form): HTMLElement | false => {
  if (!guest) return false;
  const element = check('merge', words.mergeGuest, kept.merges);
  element.addEventListener('change', ({ target }) => {
    kept.merges = (target as HTMLInputElement).checked;
  });
  return element;
};

const otherWays = (form: Form, go: (place: Place) => () => void): HTMLElement[] => {
  const { words, ways } = form;
  const shown = [
    ...ways.providers.map((provider) => providerButton(form, provider)),
    ...(ways.passkeys ? [button(words.passkey, () => form.withPasskey())] : []),
    ...(ways.codes ? [button(words.codeSend, go('code'))] : []),
  ];
  return shown.length === 0
    ? []
    : [h('div', { class: 'ways' }, ...shown), h('div', { class: 'or' }, words.or)];
};

const links = (form: Form, isNew: boolean, go: (place: Place) => () => void): HTMLElement => {
  const { words, ways, guest } = form;
  const beGuest = () => void form.attempt(async () => form.enter(await form.auth.guest()));
  return h(
    'div',
    { class: 'links' },
    isNew
      ? button(words.toSignIn, go('signIn'), 'link')
      : ways.signUp && button(words.toSignUp, go('signUp'), 'link'),
    !isNew && button(words.forgot, go('forgot'), 'link'),
    ways.guests && !guest && button(words.guest, beGuest, 'link'),
  );
};

/** E-mail and password, of who has an account or makes one, below the other ways. */
export const enterStep = (form: Form, way: 'signIn' | 'signUp'): Step => {
  const { auth, words, kept, guest } = form;
  const isNew = way === 'signUp';
  const email = field('email', words.email, {
    type: 'email',
    autocomplete: 'username',
    required: true,
    value: kept.email,
  });
  const typed = (name: string) =>
    (email.getRootNode() as ShadowRoot).querySelector<HTMLInputElement>(`#${name}`)?.value;
  const keep = () => {
    kept.email = typed('email') ?? kept.email;
    kept.name = typed('name') ?? kept.name;
  };
  const go = (place: Place) => () => {
    keep();
    form.go(place);
  };
  return {
    title: words[way],
    ...(guest && { says: words.asGuest }),
    content: [
      ...otherWays(form, go),
      email,
      field('password', words.password, {
        type: 'password',
        autocomplete: isNew ? 'new-password' : 'current-password',
        required: true,
        maxlength: isNew ? '128' : '1024',
        ...(isNew && { minlength: '8', hint: words.passwordRule }),
      }),
      isNew &&
        field('name', words.name, { autocomplete: 'name', maxlength: '100', value: kept.name }),
      !isNew && mergeCheck(form),
      submit(words[way]),
      links(form, isNew, go),
    ],
    async onSubmit({ email = '', password = '', name = '' }) {
      keep();
      const account = { email, password };
      form.enter(
        isNew
          ? await auth.signUp({ ...account, ...(name !== '' && { name }) })
          : await auth.signIn({ ...account, ...form.merge() }),
      );
    },
  };
};
