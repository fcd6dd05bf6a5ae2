import { ApiError, normalizeEmail } from '@backlot/contract';

const commonCount = 10_000;

let common: Promise<ReadonlySet<string>> | undefined;

/** The list is ordered by frequency, most frequent first, and in lower case. Loaded on first use. */
const commonPasswords = (): Promise<ReadonlySet<string>> => {
  common ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) => new Set(dictionary['passwords-common'].slice(0, commonCount)),
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
    throw tooWeak('"password": is one of the 10,000 most common ones. Choose another.');
  }
};
