/**
 * Turns route definitions and handlers into request listeners: body, validation, identity check,
 * idempotency, failures, listening and graceful stop. Knows no service and no database.
 */

export type { EventReply, ServerEvent } from './answer/event-stream.ts';
export { escapeHtml, Html, html } from './answer/html.ts';
export * from './answer/html-route.ts';
export { type JsonPart, type JsonParts, LargeJson } from './answer/json-parts.ts';
export * from './body/discard-body.ts';
export { findRoundedNumber, roundedNumberRefusal } from './body/exact-numbers.ts';
export * from './body/free-chunk.ts';
export * from './body/json-body.ts';
export { endOfJsonText } from './body/json-shape.ts';
export * from './body/places.ts';
export { identify } from './caller.ts';
export * from './cursor.ts';
export * from './directories.ts';
export * from './failure.ts';
export type {
  Answer,
  Finish,
  IdempotencyStore,
  IdempotentCall,
  IdempotentResult,
  Keep,
  KeptAnswer,
} from './idempotent.ts';
export { nearestName, printable } from './input/nearest-name.ts';
export { findWay, hintHeader } from './input/unknown-input.ts';
export * from './internal-only.ts';
export * from './pagination.ts';
export * from './route.ts';
export { createRouteTable } from './route-table.ts';
export * from './server/readiness.ts';
export * from './server/serve.ts';
export * from './server/service-app.ts';
export * from './server/silence.ts';
export * from './with-timeout.ts';
