import type { ServerResponse } from 'node:http';
import { ApiError, type RouteDefinition, usageHeader } from '@backlot/contract';
import { openAct } from '../acts/acts.ts';
import type { FindReader } from '../acts/readers.ts';
import { sendEvents } from '../answer/event-stream.ts';
import { type Finish, type Keep, runIdempotently } from '../answer/idempotent.ts';
import { LargeJson, sendParts } from '../answer/json-parts.ts';
import {
  JsonText,
  joinPieces,
  type LastWrites,
  type Reply,
  type SentAnswer,
  sendAnswer,
} from '../answer/reply.ts';
import type { Call, RouteRequest } from '../call/call.ts';
import { noteFailedBody } from '../failure/failed-bodies.ts';
import { addHint } from '../input/unknown-input.ts';
import type { Handler, RouteContext, RouteOptions } from './mounted-route.ts';

const noReader: FindReader = () => undefined;

const toBody = ({ pieces }: SentAnswer): unknown => {
  const text = pieces.join('');
  return text === '' ? undefined : JSON.parse(text);
};

/** Runs the handler of a checked call, once for each Idempotency-Key, and answers; a change leaves its line in the audit log. */
export const createRespond = <R extends RouteDefinition>(
  definition: R,
  handler: Handler<R>,
  options: RouteOptions,
) => {
  const { isSlow = false, storesAnswer = false, inTurn, retriedWhileLocked = false } = options;
  const { notesItself = false } = options;
  const kind = isSlow ? 'slow' : storesAnswer ? 'one statement' : 'usual';

  return async (
    context: RouteContext,
    call: Call<R>,
    req: RouteRequest,
    res: ServerResponse,
  ): Promise<void> => {
    const { identity } = call;
    let usage: Record<string, string> = {};
    const toSentAnswer = ({
      body,
      status,
      headers = {},
      usedMillicredits,
    }: Reply<R>): SentAnswer => {
      if (usedMillicredits !== undefined) usage = { [usageHeader]: String(usedMillicredits) };
      if (body instanceof LargeJson) throw new TypeError('A large answer can not be kept.');
      const pieces = body instanceof JsonText ? body.pieces : [JSON.stringify(body) ?? ''];
      if (context.checkResponses) {
        const text = pieces.join('');
        definition.response.parse(text === '' ? undefined : JSON.parse(text));
      }
      return { status: status ?? definition.status, headers, pieces };
    };
    const act = openAct(context.acts, context.findReader ?? noReader, definition, call);
    const handle: typeof handler = (...given) =>
      act && notesItself ? act.within(() => handler(...given)) : handler(...given);
    /** Of the last writes, with the line of the audit log where the call is to leave one. */
    const noted = (write: () => Promise<SentAnswer>) =>
      act && !notesItself ? act.around(write, toBody) : write();
    const finish = (reply: Reply<R> | LastWrites<R>): Promise<SentAnswer> =>
      isSlow ? noted(() => end(reply)) : end(reply);
    const end = async (reply: Reply<R> | LastWrites<R>): Promise<SentAnswer> => {
      const last = 'transact' in reply ? await reply.transact() : reply;
      const answer = toSentAnswer(last);
      await last.commit?.();
      return answer;
    };
    // Usage is not part of the answer: it isn't kept for a replay, which does no work.
    const answerWith = (answer: SentAnswer) =>
      sendAnswer(res, { ...answer, headers: { ...addHint(res, answer.headers), ...usage } });

    const key = definition.method === 'POST' ? call.header('idempotency-key') : undefined;
    const isNotedWhole = act !== undefined && !isSlow && !notesItself;
    /** The whole work of a call that changes the control plane and waits for nobody. */
    const settle = (keep?: Keep) =>
      noted(async () => {
        const reply = await handler(
          call,
          keep && ((reply) => keep(joinPieces(toSentAnswer(reply)))),
        );
        if ('events' in reply) throw new TypeError('An act is answered with JSON.');
        return end(reply);
      });
    const runOnce = async () => {
      if (isNotedWhole) return answerWith(await settle());
      const reply = await handle(call);
      if ('events' in reply) return sendEvents(res, reply, call, context.log, definition.answers);
      if ('body' in reply && reply.body instanceof LargeJson) {
        return sendParts(
          res,
          definition.status,
          addHint(res, reply.headers ?? {}),
          reply.body.parts,
        );
      }
      return answerWith(await finish(reply));
    };
    const work = async (keep?: Keep): Promise<Finish> => {
      if (isNotedWhole) {
        const answer = await settle(keep);
        return async () => joinPieces(answer);
      }
      const reply = await handle(call, keep && ((reply) => keep(joinPieces(toSentAnswer(reply)))));
      if ('events' in reply)
        throw new ApiError('invalid_header', 'A stream takes no Idempotency-Key.');
      return async () => joinPieces(await finish(reply));
    };
    const runKeyed = async (key: string) => {
      const { path, requestId } = { path: req.url, requestId: call.header('x-request-id') ?? '' };
      const keyedCall = { definition, identity, key, path, text: call.rawBody.text, requestId };
      const { body, ...kept } = await runIdempotently(context.idempotency, keyedCall, work, kind);
      answerWith({ ...kept, pieces: [body] });
    };
    let runs = 0;
    const run = async () => {
      runs += 1;
      if (runs > 1 && !retriedWhileLocked)
        throw new Error(`${definition.operationId} runs twice: its options say nothing of that.`);
      await (key === undefined ? runOnce() : runKeyed(key));
    };
    try {
      await (inTurn ? inTurn(call, run) : run());
    } catch (error) {
      noteFailedBody(error, call.rawBody.value);
      throw error;
    }
  };
};
