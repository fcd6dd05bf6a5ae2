export * from './email-address.ts';
export * from './me.ts';
export * from './passwords.ts';
export * from './sessions.ts';
export * from './sign-in.ts';
export * from './sign-up.ts';
export { listedUser, roleName, user } from './user.ts';
export * from './users.ts';
