/**
 * The API described once: routes, events, error codes, limits. Validation, types, OpenAPI,
 * authentication and routing all read it. Imports zod and nothing of ours.
 */
export * from './define-route.ts';
export { normalizeEmail } from './email-address.ts';
export * from './error-codes.ts';
export * from './events.ts';
export * from './key-scopes.ts';
export { openApiDocument } from './openapi.ts';
export { bodyExamples } from './openapi-examples.ts';
export type { Pays } from './paid-items.ts';
export * from './ports.ts';
export * from './price-list.ts';
export * from './prices.ts';
export type { ChatMessage } from './routes/ai/chat-message.ts';
export type { ListedUser, User } from './routes/auth/user.ts';
export type { Mail } from './routes/email/emails.ts';
export type { Group, Invite, Member, Person } from './routes/groups/index.ts';
export * from './routes/index.ts';
export type { ProvenOrigin } from './routes/origins.ts';
export type { OnPaidRule } from './routes/payments/on-paid.ts';
export type { Payment, PaymentStatus, RecordOutcome } from './routes/payments/payments.ts';
export type { Product } from './routes/payments/products.ts';
export type { LimitChanges, ProjectSettings, StoredKey } from './routes/projects/index.ts';
export {
  type AccessPreset,
  type AccessRules,
  accessPresets,
  type CollectionAccess,
  type FieldRules,
} from './routes/records/access.ts';
export type { CollectionShape, FieldShape, FieldType } from './routes/records/shape.ts';
export type { Share } from './routes/records/shares.ts';
export type { StoredFile, Visibility } from './routes/storage/stored-file.ts';
export { displayName, failure, isUuid, text } from './schemas.ts';
export * from './services.ts';
export * from './time-outs.ts';
