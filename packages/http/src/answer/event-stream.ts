import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type RouteDefinition, usageFollows, usageHeader } from '@backlot/contract';
import { type FailureLog, failureBody, isFault, toApiError } from '../failure/failure.ts';

/** One server-sent event; `data` is written as JSON. */
export interface ServerEvent {
  event: string;
  data: unknown;
}

/**
 * An answer that is streamed and can't be kept. A failure before the first event is an answer of its
 * own; after it, the last event is `error`, with the body of a failure. When the caller goes, the
 * iteration is ended. A priced call that has begun to stream records what it used when it ends.
 */
export interface EventReply {
  /** A text is what is sent, as it stands. */
  events: AsyncIterable<ServerEvent | string>;
}

interface Streamed {
  signal: AbortSignal;
  header(name: string): string | undefined;
}

const formatEvent = ({ event, data }: ServerEvent) =>
  `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

/** A reader who takes nothing for so long is cut off. */
const stalledAfterMs = 90_000;

/** Resolves when more may be written; false where nobody reads any longer. */
const write = async (
  res: ServerResponse,
  event: ServerEvent | string,
  gone: AbortSignal,
  stalledMs: number,
) => {
  if (gone.aborted) return false;
  if (res.write(typeof event === 'string' ? event : formatEvent(event))) return true;
  const stalled = new AbortController();
  const giveUp = () => stalled.abort();
  const timer = setTimeout(giveUp, stalledMs);
  gone.addEventListener('abort', giveUp);
  try {
    await once(res, 'drain', { signal: stalled.signal });
    return true;
  } catch {
    res.destroy();
    return false;
  } finally {
    clearTimeout(timer);
    gone.removeEventListener('abort', giveUp);
  }
};

export const sendEvents = async (
  res: ServerResponse,
  { events }: EventReply,
  { signal, header }: Streamed,
  log: FailureLog,
  answers: RouteDefinition['answers'] = 'json-or-events',
  stalledMs = stalledAfterMs,
): Promise<void> => {
  const iterator = events[Symbol.asyncIterator]();
  let next = await iterator.next();
  res.writeHead(200, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store',
    // nginx would hold the events back.
    'X-Accel-Buffering': 'no',
    ...(answers === 'json-or-events' && { [usageHeader]: usageFollows }),
  });
  if (res.req.method === 'HEAD') {
    await iterator.return?.();
    return void res.end();
  }
  try {
    for (; !next.done; next = await iterator.next()) {
      if (await write(res, next.value, signal, stalledMs)) continue;
      await iterator.return?.();
      return;
    }
  } catch (thrown) {
    if (signal.aborted) return;
    const failure = toApiError(thrown);
    const requestId = header('x-request-id') ?? '';
    if (isFault(failure)) log.error({ err: failure, requestId }, failure.message);
    res.write(formatEvent({ event: 'error', data: JSON.parse(failureBody(failure, requestId)) }));
  }
  res.end();
};
