export { type AuthConfig, readAuthConfig } from './config.ts';
export { type AuthDeps, type AuthService, createAuthService, type NewOwner } from './service.ts';
