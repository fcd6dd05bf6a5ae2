import type { Database } from '@backlot/database';
import { countRepeats, type Logger } from '@backlot/telemetry';
import type { CallSums } from '../call-sums/call-sums.ts';
import { eraseUser, keepBounds, mergeUser, type mostLines } from './bounds.ts';
import { createCallStreams } from './call-streams.ts';
import { type CallQuery, listCalls } from './read-calls.ts';
import { createTakeCalls } from './take-calls.ts';

interface CallLogDeps {
  database: Database;
  now: () => number;
  log: Logger;
  sums: Pick<CallSums, 'take'>;
}

const keepBoundsEveryMs = 30_000;

/** Calls of each project as gateways note them: taken, shown, told as they come, and erased. */
export const createCallLog = ({ database, now, log, sums }: CallLogDeps) => {
  const streams = createCallStreams(
    database,
    countRepeats((failure) => log.error(failure, 'calls could not be read for streams; retrying')),
  );
  const take = createTakeCalls(database, sums, now);
  return {
    streams,
    takeCalls: async (batch: Parameters<typeof take>[0]) => {
      await database.acrossProjects(() => take(batch));
      streams.look();
    },
    list: (projectNumber: number, query: CallQuery) =>
      listCalls(database, projectNumber, query, now()),
    eraseUser: (projectNumber: number, userId: string) =>
      eraseUser(database, projectNumber, userId, now()),
    mergeUser: (projectNumber: number, from: string, to: string) =>
      mergeUser(database, projectNumber, from, to),
    keepBounds: (most?: typeof mostLines) => keepBounds(database, now(), most),
    sweeps: [{ run: () => keepBounds(database, now()), everyMs: keepBoundsEveryMs }],
  };
};
export type CallLog = ReturnType<typeof createCallLog>;
