import { fill, type Words } from './words.ts';

interface Failure extends Error {
  status?: number;
  code?: string;
  hint?: string | undefined;
  retryAfterSeconds?: number | undefined;
}

const inWords = (seconds: number): string => {
  const [amount, unit] = seconds < 100 ? [seconds, 'second'] : [Math.ceil(seconds / 60), 'minute'];
  return new Intl.RelativeTimeFormat(undefined, { numeric: 'always' }).format(
    amount,
    unit as Intl.RelativeTimeFormatUnit,
  );
};

/** Hints that a visitor can follow; those of others are for whoever writes the app. */
const saysHint = new Set(['sign_up_closed', 'email_taken']);

/** A failure in a sentence for whoever signs in. */
export const explain = (failure: Failure, words: Words): string => {
  const { status, code = '', hint, message, retryAfterSeconds } = failure;
  if (status === 0 && code === 'network') return words.unreachable;
  if (status === 429 && retryAfterSeconds)
    return fill(words.later, { when: inWords(retryAfterSeconds) });
  if (status !== undefined && status >= 500) return words.busy;
  if (code === 'password_too_weak') return words.weak;
  return hint && saysHint.has(code) && !/setting|secret key|"merge"/.test(hint)
    ? `${message} ${hint}`
    : message;
};

/** The field that a refused value stood in. */
export const fieldOf = ({ code }: Failure): string | undefined => {
  if (code === 'invalid_credentials' || code === 'password_too_weak') return 'password';
  if (code === 'email_taken' || code === 'sign_up_closed') return 'email';
  return undefined;
};

/** What is wrong with what stands in a field, or undefined. */
export const explainField = (input: HTMLInputElement, words: Words): string | undefined => {
  const { validity } = input;
  if (validity.valid) return undefined;
  if (validity.valueMissing)
    return fill(words.missing, { field: input.labels?.[0]?.textContent ?? input.name });
  if (validity.typeMismatch) return fill(words.noEmail, { value: input.value });
  if (validity.tooShort) return words.short;
  return input.validationMessage;
};
