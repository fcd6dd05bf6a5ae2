/**
 * The API described once: routes, events, error codes, limits. Validation, types, OpenAPI,
 * authentication and routing all read it. Imports zod and nothing of ours.
 */
export * from './define-route.ts';
export * from './error-codes.ts';
export * from './events.ts';
export * from './ports.ts';
export * as authRoutes from './routes/auth.ts';
export { openApiDocument } from './openapi.ts';
export { routes } from './routes/index.ts';
export * as projectRoutes from './routes/projects.ts';
export * as recordRoutes from './routes/records.ts';
export { failure } from './schemas.ts';
export type { User } from './routes/auth.ts';
export type { LimitChanges, ProjectSettings } from './routes/projects.ts';
export { accessPresets, type AccessPreset } from './routes/records.ts';
