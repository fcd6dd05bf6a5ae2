/**
 * The API described once: routes, events, error codes, limits. Validation, types, OpenAPI,
 * authentication and routing all read it. Imports zod and nothing of ours.
 */

export * from './archive-lines.ts';
export * from './define-route.ts';
export { describeEffect } from './dependencies.ts';
export * from './error-codes.ts';
export * from './events/act-routes.ts';
export * from './events/acts.ts';
export * from './events/app-events.ts';
export type { ChannelPresence, PresenceTold } from './events/channels.ts';
export { type BudgetKind, budgetKinds } from './events/credits.ts';
export * from './events/events.ts';
export * from './events/findings.ts';
export { type NoticeKind, noticeKinds } from './events/mails.ts';
export { nobody } from './events/users.ts';
export { openApiDocument } from './openapi/openapi.ts';
export { bodyExamples } from './openapi/openapi-examples.ts';
export * from './ports/index.ts';
export type { Pays } from './prices/paid-items.ts';
export * from './prices/prices.ts';
export * from './rights/capability-for.ts';
export * from './rights/key-scopes.ts';
export * from './rights/member-roles.ts';
export * from './rights/needed-role.ts';
export * from './rights/operator-scopes.ts';
export * from './rights/powers.ts';
export * from './rights/suspensions.ts';
export * from './rights/view-as.ts';
export type { ChatMessage } from './routes/ai/chat-message.ts';
export type { AuditLine } from './routes/audit.ts';
export type { Factor } from './routes/auth/factors.ts';
export type { Passkey } from './routes/auth/passkeys.ts';
export type { SignInEvent, SignInEventKind } from './routes/auth/sign-in-events.ts';
export type { ListedUser, SessionAnswer, SignInAnswer, User } from './routes/auth/user.ts';
export type { Mail } from './routes/email/emails.ts';
export type {
  AccountTemplateName,
  MailField,
  MailFields,
  MailTemplate,
  MailTemplateBody,
  MailValueField,
} from './routes/email/mail-templates.ts';
export type { Group, Invite, Member, Person, SeenUser } from './routes/groups/index.ts';
export * from './routes/index.ts';
export type { KnownBackup } from './routes/operators/backups.ts';
export type { StoredOperatorToken } from './routes/operators/operator-tokens.ts';
export { masterKeySettings } from './routes/operators/sealed-secrets.ts';
export type { ProvenOrigin } from './routes/origins.ts';
export type { OnPaidRule } from './routes/payments/on-paid.ts';
export type { Payment, PaymentStatus, RecordOutcome } from './routes/payments/payments.ts';
export type { Product } from './routes/payments/products.ts';
export * from './routes/price-list.ts';
export type {
  ConfigApplication,
  ConfigEntries,
  ConfigPart,
  ConfigPlan,
  ConfigSection,
  ConfigSectionName,
  ImportedProject,
  LimitChanges,
  MemberInvitation,
  ProjectConfig,
  ProjectMember,
  ProjectSettings,
  Role,
  ShownConfigChange,
  StoredKey,
} from './routes/projects/index.ts';
export type { OnErase } from './routes/records/collections.ts';
export type { HistoryEntry } from './routes/records/history.ts';
export type { OwnedRecord } from './routes/records/owned-records.ts';
export type { Report } from './routes/records/reports.ts';
export type { RecordSchema } from './routes/records/schemas/record-schema.ts';
export type { SchemaReport } from './routes/records/schemas.ts';
export type { CollectionShape, FieldShape, FieldType } from './routes/records/shape.ts';
export type { Share } from './routes/records/shares.ts';
export type {
  RestorePoint,
  TrashedCollection,
  TrashedRecord,
  Undo,
  UndoRequest,
} from './routes/records/undo.ts';
export type { CallerName, CallLogItem, LoggedCall } from './routes/requests.ts';
export type { StoredFile, Visibility } from './routes/storage/stored-file.ts';
export type { DeliveryAttempt, Webhook, WebhookDelivery } from './routes/webhooks.ts';
export {
  type AccessPreset,
  type AccessRules,
  accessPresets,
  type CollectionAccess,
  collectionAccess,
  type FieldRules,
  presetRules,
  type RuleEntry,
} from './rules/access-rules.ts';
export { isAmong } from './rules/caller-words.ts';
export { type ChannelRule, channelName } from './rules/channel-rules.ts';
export type { CollectionLimits, LimitsChange } from './rules/collection-limits.ts';
export { displayName, failure, isUuid, text } from './schemas.ts';
export * from './services.ts';
export { normalizeEmail } from './texts/email-address.ts';
export { oneLine, showName, showProjectName } from './texts/shown-name.ts';
export * from './time-outs.ts';
