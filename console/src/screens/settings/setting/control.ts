import type { Answer } from '../../../api/operation-types.ts';

export type Settings = Answer<'getProject'>['settings'];
export type SettingName = keyof Settings;

/** How a setting is edited: one of a few, a number, lines, a form of its own, or JSON. */
export type Control =
  | { kind: 'choice'; choices: readonly (readonly [value: string | boolean, words: string])[] }
  | { kind: 'number'; unit: string }
  | { kind: 'bytes' }
  | { kind: 'text'; placeholder: string }
  | { kind: 'lines'; placeholder: string }
  | { kind: 'sign-up' }
  | { kind: 'callers' }
  | { kind: 'storage' }
  | { kind: 'json'; placeholder: string };

export interface SettingText {
  label: string;
  /** What it does. */
  says: string;
  /** What holds unless it is set. */
  unset: string;
  /** What it protects from. */
  protects: string;
  control: Control;
}

export const yesNo = (yes: string, no: string): Control => ({
  kind: 'choice',
  choices: [
    [true, yes],
    [false, no],
  ],
});
