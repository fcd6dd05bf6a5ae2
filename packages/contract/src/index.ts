/**
 * The API described once: routes, events, error codes, limits. Validation, types, OpenAPI,
 * authentication and routing all read it. Imports zod and nothing of ours.
 */

export {
  type AccessPreset,
  type AccessRules,
  accessPresets,
  type CollectionAccess,
  type FieldRules,
} from './access-rules.ts';
export * from './define-route.ts';
export { normalizeEmail } from './email-address.ts';
export * from './error-codes.ts';
export * from './events.ts';
export * from './key-scopes.ts';
export { openApiDocument } from './openapi/openapi.ts';
export { bodyExamples } from './openapi/openapi-examples.ts';
export * from './ports.ts';
export type { Pays } from './prices/paid-items.ts';
export * from './prices/prices.ts';
export type { ChatMessage } from './routes/ai/chat-message.ts';
export type { ListedUser, User } from './routes/auth/user.ts';
export type { Mail } from './routes/email/emails.ts';
export type { Group, Invite, Member, Person } from './routes/groups/index.ts';
export * from './routes/index.ts';
export type { ProvenOrigin } from './routes/origins.ts';
export type { OnPaidRule } from './routes/payments/on-paid.ts';
export type { Payment, PaymentStatus, RecordOutcome } from './routes/payments/payments.ts';
export type { Product } from './routes/payments/products.ts';
export * from './routes/price-list.ts';
export type { LimitChanges, ProjectSettings, StoredKey } from './routes/projects/index.ts';
export type { CollectionShape, FieldShape, FieldType } from './routes/records/shape.ts';
export type { Share } from './routes/records/shares.ts';
export type { StoredFile, Visibility } from './routes/storage/stored-file.ts';
export { displayName, failure, isUuid, text } from './schemas.ts';
export * from './services.ts';
export * from './time-outs.ts';
