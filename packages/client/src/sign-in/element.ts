/**
 * `<backlot-sign-in project="…">`: a form to sign in and up. It tells of whoever has signed in by the event
 * `signed-in`; its look is one of four themes, and variables of the page.
 */
import type { User } from '../calls/auth.ts';
import { type Client, createClient } from '../index.ts';
import { createStage, type Form, type Place, type Step } from './form.ts';
import { codeStep } from './steps/code.ts';
import { enterStep } from './steps/enter.ts';
import { factorStep } from './steps/factor.ts';
import { forgotStep } from './steps/forgot.ts';
import { signedInStep } from './steps/signed-in.ts';
import { styles } from './styles.ts';
import { passwordAlone, readWays } from './ways.ts';
import { usualWords, type Words } from './words.ts';

export type { Words } from './words.ts';

type AuthClient = Pick<Client, 'auth'>;

/** Where pages are made without a browser, there is nothing to extend. */
const Base = globalThis.HTMLElement ?? (class {} as typeof HTMLElement);

const ownOrigin = () => new URL(import.meta.url).origin;

/** `heading-level`, for pages whose own headings it has to follow. */
const headingLevel = (element: Element): 1 | 2 | 3 => {
  const level = Number(element.getAttribute('heading-level') ?? 2);
  return level === 1 || level === 3 ? level : 2;
};

const places: readonly string[] = ['signIn', 'signUp', 'forgot', 'code'];

const stepAt = (form: Form, place: Place): Step => {
  if (place === 'forgot') return forgotStep(form);
  if (place === 'code') return codeStep(form);
  return enterStep(form, place);
};

export class BacklotSignIn extends Base {
  /** Takes the place of `project` and `base`: a client that the page has already. */
  declare client?: AuthClient;
  /** In place of the usual ones, such as those of another language. */
  declare words?: Partial<Words>;
  #isShown = false;

  connectedCallback(): void {
    if (this.#isShown) return;
    this.#isShown = true;
    const root = this.attachShadow({ mode: 'open' });
    root.adoptedStyleSheets = [styles()];
    void this.#begin(root);
  }

  #client(): AuthClient | undefined {
    const project = this.getAttribute('project');
    const base =
      this.getAttribute('base') ??
      (project && `${ownOrigin()}/api/runtime/${encodeURIComponent(project)}`);
    return this.client ?? (base ? createClient(base) : undefined);
  }

  /** `start`; a guest begins with what makes an account of them. */
  #start({ guest, ways }: Form): Place {
    const start = this.getAttribute('start') ?? (guest && ways.signUp ? 'signUp' : 'signIn');
    return places.includes(start) ? (start as Place) : 'signIn';
  }

  #createForm(root: ShadowRoot, { auth }: AuthClient): Form {
    const words = { ...usualWords, ...this.words };
    const stage = createStage(root, words, headingLevel(this), ({ code }) => {
      if (code !== 'factor_required') return false;
      form.show(factorStep(form));
      return true;
    });
    const form: Form = {
      ...stage,
      auth,
      words,
      ways: passwordAlone,
      guest: undefined,
      kept: { email: this.getAttribute('email') ?? '', name: '', merges: true },
      merge: () => (form.guest ? { merge: form.kept.merges } : {}),
      go: (place) => form.show(stepAt(form, place)),
      withPasskey: () =>
        void form.attempt(async () => form.enter(await auth.signInWithPasskey(form.merge()))),
      enter: (user) => {
        form.guest = user.isGuest ? user : undefined;
        form.show(signedInStep(form, user));
        this.#tell(user);
      },
    };
    return form;
  }

  async #begin(root: ShadowRoot): Promise<void> {
    const client = this.#client();
    if (!client) {
      const words = { ...usualWords, ...this.words };
      createStage(root, words, headingLevel(this), () => false).show({
        title: words.signIn,
        says: words.misplaced,
      });
      return;
    }
    const { auth } = client;
    const form = this.#createForm(root, client);
    form.show({ title: form.words.signIn, says: form.words.wait });
    const [ways, user] = await Promise.all([readWays(auth), auth.me().catch(() => null)]);
    const may = (attribute: string) => this.getAttribute(attribute) !== 'false';
    form.ways = {
      ...ways,
      signUp: ways.signUp && may('can-sign-up'),
      guests: ways.guests && may('can-be-guest'),
    };
    if (user && !user.isGuest) form.show(signedInStep(form, user));
    else {
      form.guest = user ?? undefined;
      form.go(this.#start(form));
    }
    await form.attempt(async () => {
      const back = await auth.finishSignIn();
      if (back) form.enter(back);
    });
  }

  #tell(user: User): void {
    const detail = { user };
    this.dispatchEvent(new CustomEvent('signed-in', { detail, bubbles: true, composed: true }));
  }
}

if (globalThis.customElements?.get('backlot-sign-in') === undefined)
  globalThis.customElements?.define('backlot-sign-in', BacklotSignIn);
