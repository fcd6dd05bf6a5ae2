import type * as contract from '@backlot/contract';
import type { z } from 'zod';

type Groups =
  | typeof contract.aiRoutes
  | typeof contract.auditRoutes
  | typeof contract.authRoutes
  | typeof contract.creditRoutes
  | typeof contract.emailRoutes
  | typeof contract.groupRoutes
  | typeof contract.healthRoutes
  | typeof contract.historyRoutes
  | typeof contract.oauthRoutes
  | typeof contract.onPaidRoutes
  | typeof contract.operatorRoutes
  | typeof contract.originRoutes
  | typeof contract.paymentRoutes
  | typeof contract.platformUsageRoutes
  | typeof contract.productRoutes
  | typeof contract.projectRoutes
  | typeof contract.recordRoutes
  | typeof contract.reportRoutes
  | typeof contract.requestRoutes
  | typeof contract.schemaRoutes
  | typeof contract.shapeRoutes
  | typeof contract.shareRoutes
  | typeof contract.storageRoutes
  | typeof contract.suspensionRoutes
  | typeof contract.undoRoutes
  | typeof contract.webhookRoutes;

type Values<G> = G extends unknown ? G[keyof G] : never;
type Route = Extract<Values<Groups>, contract.RouteDefinition>;

/** Every route of the contract by its operationId; types alone reach the browser. */
export type Operations = { [R in Route as R['operationId']]: R };
export type OperationId = keyof Operations;

type Params<R> = R extends { params: z.ZodObject<infer Shape> }
  ? { params: { [K in keyof Shape]: string } }
  : object;
type Query<R> = R extends { query: z.ZodObject<infer Shape> }
  ? { query?: { [K in keyof Shape]?: unknown } }
  : object;
type Body<R> = R extends { body: infer B extends z.ZodType }
  ? undefined extends z.input<B>
    ? { body?: z.input<B> }
    : { body: z.input<B> }
  : object;
type Project<R> = R extends { plane: 'runtime' } ? { project: string } : object;

/** Distributes over a union, whose parts would else be crossed with each other. */
type RouteInput<R> = R extends unknown ? Params<R> & Query<R> & Body<R> & Project<R> : never;
type Inputs = { [Name in OperationId]: RouteInput<Operations[Name]> };
type Answers = { [Name in OperationId]: z.output<Operations[Name]['response']> };
type Items = {
  [Name in OperationId]: Answers[Name] extends { items: readonly (infer I)[] } ? I : never;
};

/** What a call takes: `params` of the path, `query`, `body`, and of a route of the runtime the `project`. */
export type Input<Name extends OperationId> = Inputs[Name];
/** The JSON of a call that succeeded. */
export type Answer<Name extends OperationId> = Answers[Name];
/** One item of a list. */
export type Item<Name extends OperationId> = Items[Name];
