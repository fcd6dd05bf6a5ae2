import type { ServerResponse } from 'node:http';
import { ApiError, type RouteDefinition } from '@backlot/contract';
import { createOpenItems, createPlaces } from '@backlot/http';
import {
  type AddressBounds,
  addressesInAll,
  requirePlaces,
} from '../../addresses/address-bounds.ts';
import type { CountRefusal } from '../../addresses/refusals.ts';
import type { Caller } from '../../directory/caller.ts';

/** Why a stream has ended: whoever comes back is told more. */
type EndReason = 'credential' | 'project' | 'access' | 'restart';

/** Each stream is asked again within so long what its call was asked. */
const askEveryMs = 3000;
/** A caller who takes nothing of what waits for them for so long is cut off. */
const stalledAfterMs = 90_000;
/** Parts of the time between two questions, in each of which some are asked. */
const parts = 12;

const blankLine = Buffer.from('\n\n');
const endsEvent = (chunk: unknown): boolean =>
  typeof chunk === 'string'
    ? chunk.endsWith('\n\n')
    : chunk instanceof Uint8Array && blankLine.equals(chunk.subarray(-2));

interface OpenStream {
  part: number;
  isAsked: boolean;
  cutIfStalled(): void;
  /** Undefined where it may go on. */
  ask(): Promise<EndReason | undefined>;
  end(reason: EndReason): void;
}

/** What of a caller, and of the project's rules for channels, decides what their stream tells. */
const toMark = ({ caller, channels }: StreamCaller) => {
  const { kind, userId, sessionId, key, memberRole, role, groups, emailVerified } = caller;
  return JSON.stringify([
    kind,
    userId,
    sessionId,
    key?.id,
    memberRole,
    role,
    groups,
    emailVerified,
    channels,
  ]);
};

export interface StreamCaller {
  /** As the service sees them. */
  caller: Caller;
  /** The project's setting. */
  channels: unknown;
}

export interface StreamCall extends StreamCaller {
  address: string;
  /** Who the same call would be from now. @throws ApiError where it would be refused */
  askAgain(): Promise<StreamCaller>;
}

const endFor = (error: unknown): EndReason | undefined => {
  if (!(error instanceof ApiError) || error.status >= 500 || error.status === 429) return undefined;
  if (error.status === 401) return 'credential';
  return error.code.startsWith('project_') || error.code === 'suspended' ? 'project' : 'access';
};

/** Lets an event that is half sent be, and takes nothing behind the end. */
const endable = (res: ServerResponse) => {
  const write = res.write.bind(res) as (chunk: unknown, ...rest: unknown[]) => boolean;
  const end = res.end.bind(res) as (...rest: unknown[]) => ServerResponse;
  let isBetween = true;
  let isOver = false;
  res.write = ((chunk: unknown, ...rest: unknown[]) => {
    if (isOver) return true;
    isBetween = endsEvent(chunk);
    return write(chunk, ...rest);
  }) as ServerResponse['write'];
  res.end = ((...rest: unknown[]) => {
    if (isOver) return res;
    isOver = true;
    return end(...rest);
  }) as ServerResponse['end'];
  return (reason: EndReason) => {
    if (isOver || res.destroyed || !res.headersSent) return;
    isOver = true;
    if (isBetween) write(`event: end\ndata: ${JSON.stringify({ reason })}\n\n`);
    end();
  };
};

/** To be called every few seconds. */
const createStallCheck = (res: ServerResponse, stalledMs: number) => {
  let [taken, takenAt] = [-1, 0];
  return () => {
    const { bytesWritten = 0, writableLength = 0 } = res.socket ?? {};
    const isMore = bytesWritten - writableLength !== taken;
    taken = bytesWritten - writableLength;
    if (isMore || res.writableLength === 0) takenAt = performance.now();
    else if (performance.now() - takenAt > stalledMs) res.destroy();
  };
};

export interface OpenStreams {
  /** Whether an answer to this route has no end. */
  isStream(definition: RouteDefinition): boolean;
  /** Watches over a stream from here on. @throws ApiError rate_limited, overloaded, unavailable */
  open(res: ServerResponse, call: StreamCall): void;
  /** Ends all, and takes none any more: the process stops. */
  drain(): void;
  /** Ends all: events may have been missed. */
  endAll(): void;
  stop(): void;
}

/** Streams are asked again what a call is asked, because nobody calls meanwhile: who it is, and whether they still may. */
export const createOpenStreams = (
  { streams }: AddressBounds,
  countRefusal: CountRefusal,
  stalledMs = stalledAfterMs,
): OpenStreams => {
  const places = createPlaces({ total: streams * addressesInAll, perAddress: streams });
  const open = createOpenItems<OpenStream>();
  let isDraining = false;
  let round = 0;
  let count = 0;

  const ask = async (stream: OpenStream) => {
    stream.isAsked = true;
    const reason = await stream.ask().catch(endFor);
    stream.isAsked = false;
    if (reason) stream.end(reason);
  };
  const timer = setInterval(() => {
    round = (round + 1) % parts;
    for (const stream of open.all()) {
      if (stream.part !== round) continue;
      stream.cutIfStalled();
      if (!stream.isAsked) void ask(stream);
    }
  }, askEveryMs / parts).unref();

  const endAll = () => {
    for (const stream of open.all()) stream.end('restart');
  };
  return {
    isStream: ({ answers }) => answers === 'events',
    open(res, { address, askAgain, ...stream }) {
      if (isDraining)
        throw new ApiError('unavailable', 'The server is stopping. Try again shortly.', {
          retryAfterSeconds: 1,
        });
      requirePlaces(places.take(address), 'streams', countRefusal);
      const before = toMark(stream);
      const leave = open.take({
        part: count++ % parts,
        isAsked: false,
        cutIfStalled: createStallCheck(res, stalledMs),
        end: endable(res),
        ask: async () => (toMark(await askAgain()) === before ? undefined : 'access'),
      });
      res.once('close', () => {
        leave();
        places.leave(address);
      });
    },
    drain() {
      isDraining = true;
      endAll();
    },
    endAll,
    stop: () => clearInterval(timer),
  };
};
