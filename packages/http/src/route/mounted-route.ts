import type { ServerResponse } from 'node:http';
import type { RouteDefinition } from '@backlot/contract';
import type { Identity, IdentityVerifier } from '@backlot/identity';
import type { ActLog } from '../acts/acts.ts';
import type { FindReader } from '../acts/readers.ts';
import type { EventReply } from '../answer/event-stream.ts';
import type { IdempotencyStore } from '../answer/idempotent.ts';
import type { KeepReply, LastWrites, Reply } from '../answer/reply.ts';
import type { Call, Received, RouteRequest } from '../call/call.ts';
import type { FailureLog } from '../failure/failure.ts';

/** `keep` comes with an Idempotency-Key where the route says `storesAnswer`. */
export type Handler<R extends RouteDefinition> = (
  call: Call<R>,
  keep?: KeepReply<R>,
) => Promise<
  | Reply<R>
  | LastWrites<R>
  | (R extends { answers: 'json-or-events' | 'events' } ? EventReply : never)
>;

export type Receive = (req: RouteRequest, identity: Identity) => Promise<Received>;

export interface RouteOptions {
  /** The handler waits for others: no transaction is held meanwhile, its writes belong in `commit` or `transact`. */
  isSlow?: boolean;
  /** The handler writes with one statement, which stores the answer too where it gets `keep`. */
  storesAnswer?: boolean;
  /** Reads the body instead of what reads JSON. */
  receive?: Receive;
  /** Runs the work of a call once it is the caller's turn, before any transaction begins. */
  inTurn?: InTurn<'header'>;
  /** Where the handler has waited for a lock, `inTurn` runs it again: what it does beside its writes it may do twice. */
  retriedWhileLocked?: boolean;
  /**
   * It changes the control plane in transactions of its own, and says by `noteAct` within the one that decides what the
   * audit log is to say.
   */
  notesItself?: boolean;
  /** A body of more bytes is read in turn. Default 64 KiB. */
  largeBodyBytes?: number;
  /** Such turns are as short as the work on a large body, which keeps its own meanwhile. */
  hasShortTurns?: boolean;
}

export type InTurn<More extends keyof Call<RouteDefinition> = never> = (
  caller: Pick<Call<RouteDefinition>, 'identity' | 'signal' | More>,
  work: () => Promise<void>,
) => Promise<void>;

export interface RouteContext {
  identities: IdentityVerifier;
  idempotency: IdempotencyStore;
  /** Validates what handlers answer against the contract; on in tests. */
  checkResponses: boolean;
  log: FailureLog;
  /** Where changes of the control plane are noted; nowhere unless stated. */
  acts?: ActLog | undefined;
  findReader?: FindReader;
  /** Runs the work on a large body once it is its caller's turn. Default at once. */
  inTurnForLargeBody?: InTurn | undefined;
}

/** Answers a call; what it throws is answered for it. */
export type RouteListener = (req: RouteRequest, res: ServerResponse) => Promise<void>;

export interface MountedRoute {
  definition: RouteDefinition;
  middleware(context: RouteContext): RouteListener;
  /** What its handler answers, for the service itself: nothing is checked but by the handler. */
  answer?(call: Pick<Call<RouteDefinition>, 'identity' | 'params' | 'query'>): Promise<unknown>;
}
