/** Live lists, the signed-in user and a form to sign in, for React 18 and later. */

export { SignIn, type SignInProps } from './sign-in.ts';
export { useChannel, usePresence } from './use-channel.ts';
export { type LiveCollection, type ShownList, useList, useRecord } from './use-list.ts';
export { type UserSource, useUser } from './use-user.ts';
