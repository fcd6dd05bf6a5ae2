import type { Ways } from '../accounts/answers.ts';
import type { Auth } from '../calls/auth.ts';

export const passwordAlone: Ways = {
  providers: [],
  signUp: true,
  codes: false,
  guests: false,
  passkeys: false,
};

/** Where it can not be known, a password is left. */
export const readWays = (auth: Auth): Promise<Ways> => auth.ways().catch(() => passwordAlone);
