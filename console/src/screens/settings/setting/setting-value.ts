import type { Control } from './control.ts';

const jsonKinds: readonly Control['kind'][] = ['json', 'sign-up', 'callers', 'storage'];
export const isJson = ({ kind }: Control): boolean => jsonKinds.includes(kind);

/** As it stands in the field; empty where it is not set. */
export const toText = (control: Control, value: unknown): string => {
  if (value === undefined || value === null) return '';
  if (control.kind === 'lines') return (value as string[]).join('\n');
  if (isJson(control)) return JSON.stringify(value, null, 2);
  return String(value);
};

/** What stands in a form of its own. */
export const readForm = (text: string): unknown => (text === '' ? undefined : JSON.parse(text));

/** Empty for what says nothing. */
export const writeForm = (value: unknown): string => {
  const text = JSON.stringify(value, null, 2);
  return text === undefined || text === '{}' ? '' : text;
};

const isNamed = (word: unknown) => word !== '' && word !== 'role:';

/** Without empty lines. */
const tidyForm = (text: string): unknown =>
  JSON.parse(text, (_name, value) => {
    if (!Array.isArray(value)) return value;
    const named = value.filter(isNamed);
    if (named.length === 0 && value.length > 0) throw new Error('Name at least one.');
    return named;
  });

/** What is sent for that text: null restores the default. @throws Error that says what is wrong with it */
export const fromText = (control: Control, text: string): unknown => {
  if (text.trim() === '') return null;
  switch (control.kind) {
    case 'lines':
      return text
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== '');
    case 'number':
    case 'bytes': {
      const number = Number(text);
      if (!Number.isInteger(number)) throw new Error('It has to be a whole number.');
      return number;
    }
    case 'choice':
      return control.choices.find(([value]) => String(value) === text)?.[0] ?? null;
    case 'json':
      try {
        return JSON.parse(text);
      } catch {
        throw new Error(`It has to be JSON, such as ${control.placeholder}.`);
      }
    case 'text':
      return text.trim();
    default:
      return tidyForm(text);
  }
};
