/**
 * Turns route definitions and handlers into Express apps: body, validation, identity check,
 * idempotency, failures, listening and graceful stop. Knows no service and no database.
 */
export * from './cursor.ts';
export * from './directories.ts';
export * from './discard-body.ts';
export type { EventReply, ServerEvent } from './event-stream.ts';
export * from './failure.ts';
export * from './free-chunk.ts';
export { escapeHtml, Html, html } from './html.ts';
export * from './html-route.ts';
export type {
  Answer,
  Finish,
  IdempotencyStore,
  IdempotentCall,
  IdempotentResult,
} from './idempotent.ts';
export * from './internal-only.ts';
export * from './json-body.ts';
export { type JsonParts, LargeJson } from './json-parts.ts';
export { nearestName, printable } from './nearest-name.ts';
export * from './pagination.ts';
export * from './places.ts';
export * from './route.ts';
export * from './serve.ts';
export * from './service-app.ts';
export { hintHeader } from './unknown-input.ts';
