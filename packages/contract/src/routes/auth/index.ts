export * from './change-email.ts';
export * from './change-password.ts';
export * from './links.ts';
export * from './me.ts';
export * from './sessions.ts';
export * from './sign-in.ts';
export * from './sign-up.ts';
export { listedUser, roleName, user } from './user.ts';
export * from './users.ts';
