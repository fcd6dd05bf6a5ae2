export * from './auth-providers.ts';
export * from './handover.ts';
export * from './identities.ts';
export * from './oauth.ts';
export { providerName } from './provider-fields.ts';
