import type { Database } from '@backlot/database';
import { toNetwork } from '@backlot/http';
import { countRepeats, type Logger } from '@backlot/telemetry';
import { keepBounds } from './keep-bounds.ts';
import { type TakenSum, takeSums } from './take-sums.ts';
import { createTopCalls } from './top-calls.ts';

interface CallSumsDeps {
  database: Database;
  now: () => number;
  log: Logger;
}

const keepBoundsEveryMs = 60_000;

const none = { calls: 0, errors: 0, refusals: 0, faults: 0, bytes: 0, databaseUs: 0, threadUs: 0 };

/** A call that was booked. */
export interface PaidCall {
  projectNumber: number;
  /** operationId */
  route: string;
  /** Of a visitor or user. */
  address?: string | undefined;
  millicredits: number;
}

/** What calls have cost, each name of a project once. */
const toSums = (usages: readonly PaidCall[]): TakenSum[] => {
  const sums = new Map<string, TakenSum & { millicredits: number }>();
  for (const { projectNumber, route, address, millicredits } of usages) {
    const network = address === undefined ? null : toNetwork(address);
    const names = [
      { kind: 'route', name: route } as const,
      ...(network === null ? [] : [{ kind: 'address', name: network } as const]),
    ];
    for (const { kind, name } of names) {
      const key = `${kind} ${projectNumber} ${name}`;
      const known = sums.get(key) ?? { kind, projectNumber, name, ...none, millicredits: 0 };
      known.millicredits += millicredits;
      sums.set(key, known);
    }
  }
  return [...sums.values()];
};

/** What calls of all projects come to, whoever makes them: for the operator. Credits are those that the ledger books. */
export const createCallSums = ({ database, now, log }: CallSumsDeps) => {
  const warn = countRepeats((failure) =>
    log.warn(failure, 'what calls have cost is missing in the use of all projects'),
  );
  const take = (items: readonly TakenSum[], since: number) =>
    takeSums(database, { since, items }, now());
  return {
    /** Belongs into the transaction that takes the batch. */
    take,
    /** Calls that were booked, each once. The ledger does not wait for it. */
    async addCosts(usages: readonly PaidCall[]): Promise<void> {
      await database
        .acrossProjects(() => database.transaction(() => take(toSums(usages), now())))
        .catch(warn);
    },
    top: createTopCalls(database, now),
    keepBounds: (most?: number) => keepBounds(database, now(), most),
    sweeps: [{ run: () => keepBounds(database, now()), everyMs: keepBoundsEveryMs }],
  };
};
export type CallSums = ReturnType<typeof createCallSums>;
