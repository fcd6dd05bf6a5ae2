export { type AuthConfig, readAuthConfig } from './config.ts';
export type { NewOwner } from './ensure-owner.ts';
export { type AuthDeps, type AuthService, createAuthService } from './service.ts';
