/** What the form says; `words` of the element replaces any of it. */
export const usualWords = {
  email: 'E-mail',
  password: 'Password',
  name: 'Name',
  passwordRule: 'At least 8 characters.',
  signIn: 'Sign in',
  signUp: 'Sign up',
  toSignUp: 'New here? Sign up',
  toSignIn: 'Have an account? Sign in',
  forgot: 'Forgot password?',
  forgotTitle: 'Choose a new password',
  forgotSays: 'A link for a new password is mailed to this address.',
  forgotSend: 'Mail the link',
  forgotten: 'If there is such an account, a link for a new password is on its way.',
  signInWith: 'Continue with {provider}',
  passkey: 'Use a passkey',
  code: 'Code',
  codeTitle: 'Sign in by a code',
  codeSays: 'A code of six digits is mailed to this address. It needs no password.',
  codeSend: 'Mail me a code',
  codeSent: 'If {email} can sign in here, a code is on its way. It is good for 10 minutes.',
  codeAgain: 'Mail another code',
  factorTitle: 'One more step',
  factorSays: 'Type the code that your authenticator app shows, or one of your recovery codes.',
  factorCode: 'Code of the app',
  factorSend: 'Go on',
  remember: 'Do not ask again on this device for 30 days',
  guest: 'Continue as guest',
  asGuest:
    'You are here as a guest. With an account, what you have made stays yours on every device.',
  mergeGuest: 'Bring along what I have made as a guest',
  back: 'Back',
  or: 'or',
  wait: 'One moment …',
  signedIn: 'You are signed in',
  signedInAs: 'Signed in as {who}',
  signOut: 'Sign out',
  unreachable: 'The server can not be reached. Look at your connection, then try again.',
  later: 'Too many attempts. Try again {when}.',
  busy: 'The server is busy. Try again in a moment.',
  missing: 'Fill in: {field}.',
  noEmail: 'This is no e-mail address: {value}',
  short: 'The password needs at least 8 characters.',
  weak: 'This password is easy to guess. Choose another, such as three words that have nothing to do with each other.',
  misplaced: 'This form is not set up: it needs the id of a project.',
};

export type Words = typeof usualWords;

/** @param values by the name that stands in braces */
export const fill = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replace(/\{(\w+)\}/g, (all, name: string) => values[name] ?? all);
