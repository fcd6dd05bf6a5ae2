import type { Ways } from '../accounts/answers.ts';
import type { Auth, User } from '../calls/auth.ts';
import { type Child, h } from './dom.ts';
import { explain, explainField, fieldOf } from './problems.ts';
import type { Words } from './words.ts';

export type FieldValues = Readonly<Record<string, string>>;

/** What is shown at one time. */
export interface Step {
  title: string;
  /** Shown below the title. */
  says?: Child;
  content?: readonly Child[];
  /** What the form's own button does. */
  onSubmit?: (values: FieldValues) => Promise<void>;
}

/** Where a step can lead. */
export type Place = 'signIn' | 'signUp' | 'forgot' | 'code';

/** What steps know of the form in which they are. */
export interface Form {
  auth: Auth;
  words: Words;
  ways: Ways;
  /** The guest who is here, if any. */
  guest: User | undefined;
  /** What was typed, kept from step to step; no passwords. Whether what the guest has goes along. */
  kept: { email: string; name: string; merges: boolean };
  /** What becomes of the guest who is here. */
  merge(): { merge?: boolean };
  show(step: Step): void;
  go(place: Place): void;
  /** Does it while nothing else can be pressed; a failure is shown. */
  attempt(work: () => Promise<void>): Promise<void>;
  notify(text: string): void;
  withPasskey(): void;
  /** Somebody has signed in. */
  enter(user: User): void;
}

const readFields = (form: HTMLFormElement): FieldValues =>
  Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));

/** The parts of a form that stay while its steps change, so that a screen reader hears what happens. */
export const createStage = (
  root: ShadowRoot,
  words: Words,
  headingLevel: 1 | 2 | 3,
  recovers: (failure: Error & { code?: string }) => boolean,
) => {
  const title = h(`h${headingLevel}`, { part: 'title', tabindex: '-1' });
  const says = h('p', { class: 'says', part: 'says' });
  const problem = h('p', { class: 'problem', part: 'problem', role: 'alert' });
  const notice = h('p', { class: 'notice', part: 'notice', role: 'status' });
  const content = h('div', { class: 'content' });
  const form = h('form', { part: 'form', novalidate: true }, title, says, problem, notice, content);
  root.append(form);
  let step: Step | undefined;
  let isBusy = false;
  /** A page that opens keeps its focus. */
  let isTouched = false;
  for (const kind of ['pointerdown', 'keydown'])
    form.addEventListener(kind, () => {
      isTouched = true;
    });

  const setBusy = (value: boolean) => {
    isBusy = value;
    form.setAttribute('aria-busy', String(value));
    for (const button of form.querySelectorAll('button')) button.disabled = value;
  };
  const clear = () => {
    problem.textContent = '';
    notice.textContent = '';
    for (const input of form.querySelectorAll('[aria-invalid]'))
      input.removeAttribute('aria-invalid');
  };
  const show = (text: string, input?: HTMLInputElement) => {
    problem.textContent = text;
    input?.setAttribute('aria-invalid', 'true');
    input?.focus();
  };
  const fail = (failure: Error) => {
    const name = fieldOf(failure);
    const input = name && form.querySelector<HTMLInputElement>(`#${name}`);
    show(explain(failure, words), input || undefined);
  };
  const refuseFields = (): boolean => {
    for (const input of form.querySelectorAll('input')) {
      const text = explainField(input, words);
      if (text === undefined) continue;
      clear();
      show(text, input);
      return true;
    }
    return false;
  };
  const attempt = async (work: () => Promise<void>) => {
    if (isBusy) return;
    clear();
    setBusy(true);
    let failure: Error | undefined;
    try {
      await work();
    } catch (error) {
      failure = error as Error;
    } finally {
      setBusy(false);
    }
    if (failure && !recovers(failure)) fail(failure);
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const { onSubmit } = step ?? {};
    if (onSubmit && !isBusy && !refuseFields()) void attempt(() => onSubmit(readFields(form)));
  });

  return {
    attempt,
    notify(text: string) {
      notice.textContent = text;
    },
    show(next: Step) {
      step = next;
      clear();
      title.textContent = next.title;
      says.replaceChildren(...(next.says ? [next.says] : []));
      content.replaceChildren(
        ...(next.content ?? []).filter(
          (child) => child instanceof Node || typeof child === 'string',
        ),
      );
      setBusy(isBusy);
      if (!isTouched) return;
      const first = content.querySelector<HTMLElement>('input:not([readonly])');
      (first ?? title).focus();
    },
  };
};
