import type { LoggedCall } from '../routes/requests.ts';

/** What a gateway has noted of one project. */
export interface NotedCalls {
  projectNumber: number;
  calls: readonly LoggedCall[];
  /** Calls that could not be handed over before; times in ISO 8601. */
  lost?: { since: string; until: string; calls: number } | undefined;
}

/** What calls of one route of a project, or from one network, came to. */
export interface CallSum {
  kind: 'route' | 'address';
  /** 0: of no project, or of those that were too many to be told apart. */
  projectNumber: number;
  /** operationId, or network (203.0.113.0/24); empty for those that were too many. */
  name: string;
  calls: number;
  /** Answered with 400 and above; of them those with 402 and 429, and those with 500 and above. */
  errors: number;
  refusals: number;
  faults: number;
  /** Of requests and answers. */
  bytes: number;
  /** Microseconds of statements, and of the service's thread. */
  databaseUs: number;
  threadUs: number;
}

/** Of each kind, at once. */
export const mostCallSums = 1000;

export interface CallBatch {
  /** A UUID of the gateway's process, and the number of its batch: what came twice is taken once. */
  gateway: string;
  number: number;
  /** At most `mostCallsAtOnce` calls in all; each project once, and twice as many at most. */
  projects: readonly NotedCalls[];
  /** Of calls since this time in ISO 8601; each name of a project once. */
  sums?: { since: string; items: readonly CallSum[] } | undefined;
}

export const mostCallsAtOnce = 500;

/** Offered by the projects service. */
export interface CallLogDirectory {
  /** Keeps what gateways have noted of calls; of projects that are gone it keeps nothing. */
  takeCalls(batch: CallBatch): Promise<void>;
}
