import type { ServerResponse } from 'node:http';
import { setImmediate as nextLoop } from 'node:timers/promises';
import type { RouteDefinition } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { freeChunk } from '../body/free-chunk.ts';
import { parseJson, readBody } from '../body/json-body.ts';
import {
  type Call,
  callerSignal,
  type Received,
  type RouteRequest,
  readCall,
} from '../call/call.ts';
import {
  checkCaller,
  checkFields,
  checkProject,
  checkRole,
  forBlocked,
  identify,
} from '../call/caller.ts';
import { noteFailedBody } from '../failure/failed-bodies.ts';
import type { Handler, MountedRoute, RouteContext, RouteOptions } from './mounted-route.ts';
import { createRespond } from './respond.ts';

/** Work on larger bodies takes turns: it keeps the thread that all calls share busy. */
const usualLargeBodyBytes = 64 * 1024;

/**
 * Binds a handler to its definition. The order is the contract's: identity, anonymous callers, body
 * size and type, fields, then whether this caller may.
 */
export const route = <const R extends RouteDefinition>(
  definition: R,
  handler: Handler<R>,
  options: RouteOptions = {},
): MountedRoute => {
  const { isSlow = false, receive, inTurn, hasShortTurns = false } = options;
  const { largeBodyBytes = usualLargeBodyBytes } = options;
  const respond = createRespond(definition, handler, options);
  /** It waits for others than its own process and database: nobody's turn is held meanwhile. */
  const waits = isSlow || (inTurn !== undefined && !hasShortTurns);

  const answer = async (
    context: RouteContext,
    identity: Identity,
    req: RouteRequest,
    res: ServerResponse,
    received?: Received,
  ): Promise<void> => {
    const bytes = received ? undefined : await readBody(req, definition);
    const read = () => {
      const raw = received ?? parseJson(bytes);
      try {
        const call = readCall(definition, identity, req, res, raw, received);
        checkCaller(definition, identity);
        checkProject(definition, identity, req.params);
        checkFields(definition, identity, call.body);
        return call;
      } catch (error) {
        noteFailedBody(error, raw.value);
        throw error;
      }
    };
    const { inTurnForLargeBody } = context;
    if (!inTurnForLargeBody || !bytes || bytes.byteLength <= largeBodyBytes)
      return respond(context, read(), req, res);
    // What has waited is old to V8 and keeps what it holds until the next full collection: it may not hold the body.
    let rest: (() => Promise<void>) | undefined;
    const caller = { identity, signal: callerSignal(res) };
    const turn: Promise<void> = inTurnForLargeBody(caller, async () => {
      const call = read();
      freeChunk(bytes);
      if (!waits) return respond(context, call, req, res);
      rest = () => respond(context, call, req, res);
      // The turn lasts until what else has come meanwhile was served.
      await nextLoop();
    });
    await turn;
    await rest?.();
  };

  return {
    definition,
    async answer(asked) {
      const call = {
        ...asked,
        body: undefined,
        rawBody: { value: undefined, text: '' },
        header: () => undefined,
        signal: new AbortController().signal,
      } as unknown as Call<R>;
      const reply = await handler(call);
      return 'body' in reply ? reply.body : undefined;
    },
    middleware: (context) => async (req, res) => {
      const identity = identify(req, definition, context);
      // Before anything of a body is read or kept.
      if (identity.caller === 'anonymous') checkCaller(definition, identity);
      checkRole(definition, identity);
      const receiving: Promise<Received> | undefined = receive?.(req, identity);
      const received = await receiving;
      await answer(context, identity, req, res, received)
        .catch((error: unknown) => {
          throw identity.isBlocked ? forBlocked(error) : error;
        })
        .finally(received?.release);
    },
  };
};
