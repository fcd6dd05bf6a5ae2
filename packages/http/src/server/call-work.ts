import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { workHeader } from '@backlot/contract';

/** Rounds of the event loop in which something was measured. */
let round = 0;
let isEnding = false;
const currentRound = () => {
  if (!isEnding) {
    isEnding = true;
    setImmediate(() => {
      round += 1;
      isEnding = false;
    });
  }
  return round;
};

/**
 * What a call takes, in milliseconds. Of the thread it is the time between two marks in one round of the event loop:
 * nothing was waited for between them, though calls whose answers came together may have shared it.
 */
export class CallWork {
  databaseMs = 0;
  threadMs = 0;
  private lastAt = 0;
  private lastRound = -1;

  mark(): number {
    const at = performance.now();
    const now = currentRound();
    if (now === this.lastRound) this.threadMs += at - this.lastAt;
    this.lastAt = at;
    this.lastRound = now;
    return at;
  }

  /** A statement leaves; what it answers is called when its answer is there. */
  statement(): () => void {
    const left = this.mark();
    return () => {
      this.databaseMs += this.mark() - left;
    };
  }
}

const isHeaders = (value: unknown): value is OutgoingHttpHeaders =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Says in the answer's head what the call has taken until then. */
export const tellWork = (res: ServerResponse): CallWork => {
  const work = new CallWork();
  const writeHead = res.writeHead as (...given: unknown[]) => ServerResponse;
  res.writeHead = ((...given: unknown[]) => {
    work.mark();
    const told = `${Math.round(work.databaseMs * 1000)} ${Math.round(work.threadMs * 1000)}`;
    const headers = given.at(-1);
    if (isHeaders(headers)) headers[workHeader] = told;
    else if (!res.headersSent) res.setHeader(workHeader, told);
    return writeHead.apply(res, given);
  }) as ServerResponse['writeHead'];
  work.mark();
  return work;
};
