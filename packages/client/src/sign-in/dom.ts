type Value = string | boolean | undefined | ((event: Event) => void);
export type Child = Node | string | false | undefined | null;

/** @param values attributes by name; `onclick` and the like listen; false and undefined leave one out */
export const h = <Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  values: Readonly<Record<string, Value>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(values))
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== undefined && value !== false) element.setAttribute(name, value);
  element.append(...children.filter((child) => child instanceof Node || typeof child === 'string'));
  return element;
};

/** With its label; what is said of it stands below. */
export const field = (
  name: string,
  label: string,
  { hint, ...values }: Readonly<Record<string, Value>> & { hint?: string } = {},
): HTMLElement => {
  const described = hint === undefined ? {} : { 'aria-describedby': `${name}-hint` };
  return h(
    'div',
    { class: 'field', part: 'field' },
    h('label', { for: name, part: 'label' }, label),
    h('input', { id: name, name, part: 'input', ...described, ...values }),
    hint !== undefined && h('div', { id: `${name}-hint`, class: 'hint', part: 'hint' }, hint),
  );
};

export const button = (text: string, onclick: () => void, look = 'plain'): HTMLButtonElement =>
  h('button', { type: 'button', class: look, part: `button ${look}`, onclick }, text);

export const submit = (text: string): HTMLButtonElement =>
  h('button', { type: 'submit', class: 'primary', part: 'button primary' }, text);

/** A box to tick, of the value `yes`. */
export const check = (name: string, label: string, checked = false): HTMLElement =>
  h(
    'div',
    { class: 'check' },
    h('input', { id: name, name, type: 'checkbox', value: 'yes', checked }),
    h('label', { for: name }, label),
  );
