import { ApiError, normalizeEmail } from '@backlot/contract';

/** Of what people may choose (the contract). */
const minLength = 8;

let common: Promise<ReadonlySet<string>> | undefined;

/** What leaks hold most often, in lower case: the whole list of zxcvbn-ts (MIT). Loaded on first use. */
const commonPasswords = (): Promise<ReadonlySet<string>> => {
  common ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) =>
      new Set(dictionary['passwords-common'].filter(({ length }) => length >= minLength)),
  );
  return common;
};

const tooWeak = (message: string) => new ApiError('password_too_weak', message);

/** The contract has checked the length and normalised the password. @throws ApiError password_too_weak */
export const checkPassword = async (password: string, email: string): Promise<void> => {
  const lower = password.toLowerCase();
  if (normalizeEmail(password) === email || lower === email.slice(0, email.lastIndexOf('@'))) {
    throw tooWeak('"password" must not be the e-mail address.');
  }
  if ((await commonPasswords()).has(lower)) {
    throw tooWeak(
      '"password": is one of those that leaks hold most often, which is what attackers try first. Choose another.',
    );
  }
};
