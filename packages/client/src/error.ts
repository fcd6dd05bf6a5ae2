/** What of the sent data does not fit the schema of its collection. */
export interface Problem {
  /** Of a batch: `create[3]`. */
  operation?: string;
  /** Of the field: `items[3].price`. */
  path: string;
  /** The keyword of the schema. */
  rule: string;
  /** Stands behind the path: `must be at least 0`. */
  message: string;
}

/** Of proof_of_work_needed; the client solves it by itself. */
export interface Challenge {
  parameters: {
    nonce: string;
    salt: string;
    cost: number;
    keyLength: number;
    keyPrefix: string;
  } & Record<string, unknown>;
  signature: string;
}

/** What an answer says of a failure; `status` is 0 where there was no answer. */
export interface Failure {
  error?: string;
  code?: string;
  hint?: string;
  problems?: readonly Problem[];
  challenge?: Challenge;
  requestId?: string;
}

/** Every failed call of the client. `message` is a sentence for a developer. */
export class BacklotError extends Error {
  override readonly name = 'BacklotError';
  /** HTTP status; 0 where no answer came. */
  declare readonly status: number;
  /** One word for programs, such as `not_found`; `network` where no answer came. */
  declare readonly code: string;
  /** What to do about it, where the server knows. */
  declare readonly hint: string | undefined;
  /** With the code `schema_mismatch`: all that does not fit, up to 20. */
  declare readonly problems: readonly Problem[];
  /** With the code `proof_of_work_needed`, where the client could not solve it. */
  declare readonly challenge: Challenge | undefined;
  declare readonly requestId: string | undefined;
  /** When the same call may be tried again. */
  declare readonly retryAfterSeconds: number | undefined;

  constructor(status: number, failure: Failure, retryAfterSeconds?: number, cause?: unknown) {
    super(failure.error ?? `The server answered ${status}.`, { cause });
    this.status = status;
    this.code = failure.code ?? (status === 0 ? 'network' : 'unknown');
    this.hint = failure.hint;
    this.problems = failure.problems ?? [];
    this.challenge = failure.challenge;
    this.requestId = failure.requestId;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
