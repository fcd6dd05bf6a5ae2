/**
 * Turns route definitions and handlers into request listeners: body, validation, identity check,
 * idempotency, failures, listening and graceful stop. Knows no service and no database.
 */

export { type ActDetails, type ActLog, noteAct } from './acts/acts.ts';
export type { EventReply, ServerEvent } from './answer/event-stream.ts';
export { escapeHtml, Html, html } from './answer/html.ts';
export type {
  Answer,
  Finish,
  IdempotencyStore,
  IdempotentCall,
  IdempotentResult,
  Keep,
  KeptAnswer,
} from './answer/idempotent.ts';
export { type JsonPart, type JsonParts, LargeJson } from './answer/json-parts.ts';
export { JsonText, type KeepReply, type LastWrites, type Reply } from './answer/reply.ts';
export type { HttpDirectoryOptions } from './ask/ask.ts';
export * from './ask/directories.ts';
export * from './body/discard-body.ts';
export { findRoundedNumber, roundedNumberRefusal } from './body/exact-numbers.ts';
export * from './body/free-chunk.ts';
export * from './body/json-body.ts';
export { endOfJsonText } from './body/json-shape.ts';
export * from './body/places.ts';
export {
  type Call,
  callerSignal,
  noQuery,
  type Received,
  type RouteRequest,
  validate,
} from './call/call.ts';
export { checkCaller, identify, refuseRole, requirePower } from './call/caller.ts';
export * from './failure/failed-body.ts';
export * from './failure/failure.ts';
export { nearestName, printable } from './input/nearest-name.ts';
export { findWay, hintHeader } from './input/unknown-input.ts';
export * from './internal-only.ts';
export { toNetwork, toWideNetwork } from './network.ts';
export * from './pages/cursor.ts';
export * from './pages/pagination.ts';
export * from './route/html-route.ts';
export * from './route/mounted-route.ts';
export { route } from './route/route.ts';
export { createRouteTable } from './route/route-table.ts';
export { createOpenItems } from './server/open-items.ts';
export * from './server/readiness.ts';
export * from './server/serve.ts';
export * from './server/service-app.ts';
export * from './server/silence.ts';
export * from './with-timeout.ts';
