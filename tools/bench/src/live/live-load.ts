/** What the process reads from its standard input. */
export interface LiveLoad {
  /** Of the project: `…/api/runtime/<id>`. */
  base: string;
  /** Writes with it. */
  key: string;
  addresses: string[];
  subscribers: number;
  /** Each has as many subscribers as the others, and each write is in one. */
  rooms: number;
  writesPerSecond: number;
  /** Undefined: until it is told to end. */
  seconds?: number;
}

/** What it writes as JSON at last, behind a line once all streams are open. */
export interface LiveFigures {
  written: number;
  failed: number;
  perSecond: number;
  events: number;
  missing: number;
  p50Ms: number;
  p99Ms: number;
}
