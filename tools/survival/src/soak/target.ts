/** What can be killed or frozen, and comes back. */
export interface SoakVictim {
  name: string;
  kill(): Promise<void>;
  /** After a kill; may resolve before it answers. */
  start(): Promise<void>;
  freeze(): Promise<void>;
  thaw(): Promise<void>;
}

/** An installation with two gateways, whose processes may be disturbed. */
export interface SoakTarget {
  /** Origins. */
  gateways: readonly string[];
  operatorToken: string;
  victims: readonly SoakVictim[];
  /** Bytes of each process that runs, by its name. */
  memory(): Promise<Record<string, number>>;
  /** All that the processes have written since it began. */
  logs(): Promise<string>;
  /** Nobody may read these in a log. */
  secrets: readonly string[];
}
