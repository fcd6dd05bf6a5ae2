export * from './codes.ts';
export * from './email-address.ts';
export * from './factors.ts';
export * from './guests.ts';
export * from './me.ts';
export * from './passkeys.ts';
export * from './passwords.ts';
export * from './reauthenticate.ts';
export * from './renew-recovery-codes.ts';
export * from './sessions.ts';
export * from './sign-in.ts';
export * from './sign-in-events.ts';
export * from './sign-up.ts';
export {
  listedUser,
  roleName,
  type SessionAnswer,
  type SignInAnswer,
  session,
  signInAnswer,
  user,
} from './user.ts';
export * from './user-factors.ts';
export * from './user-sessions.ts';
export * from './users.ts';
