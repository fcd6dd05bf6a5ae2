/**
 * The API described once: routes, events, error codes, limits. Validation, types, OpenAPI,
 * authentication and routing all read it. Imports zod and nothing of ours.
 */
export * from './define-route.ts';
export * from './error-codes.ts';
export * from './events.ts';
export { openApiDocument } from './openapi.ts';
export * from './ports.ts';
export type { ChatMessage } from './routes/ai.ts';
export * as aiRoutes from './routes/ai.ts';
export type { User } from './routes/auth.ts';
export * as authRoutes from './routes/auth.ts';
export * as creditRoutes from './routes/credits.ts';
export type { Mail } from './routes/email.ts';
export * as emailRoutes from './routes/email.ts';
export { routes } from './routes/index.ts';
export type { Payment, PaymentStatus } from './routes/payments.ts';
export * as paymentRoutes from './routes/payments.ts';
export type { LimitChanges, ProjectSettings } from './routes/projects.ts';
export * as projectRoutes from './routes/projects.ts';
export * as recordRoutes from './routes/records.ts';
export { type AccessPreset, accessPresets } from './routes/records.ts';
export type { StoredFile, Visibility } from './routes/storage.ts';
export * as storageRoutes from './routes/storage.ts';
export { failure } from './schemas.ts';
