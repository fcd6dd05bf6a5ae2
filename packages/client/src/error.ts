/** What an answer says of a failure; `status` is 0 where there was no answer. */
export interface Failure {
  error?: string;
  code?: string;
  hint?: string;
  requestId?: string;
}

/** Every failed call of the client. `message` is a sentence for a developer. */
export class BacklotError extends Error {
  override readonly name = 'BacklotError';
  /** HTTP status; 0 where no answer came. */
  readonly status: number;
  /** One word for programs, such as `not_found`; `network` where no answer came. */
  readonly code: string;
  /** What to do about it, where the server knows. */
  readonly hint: string | undefined;
  readonly requestId: string | undefined;
  /** When the same call may be tried again. */
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, failure: Failure, retryAfterSeconds?: number, cause?: unknown) {
    super(failure.error ?? `The server answered ${status}.`, { cause });
    this.status = status;
    this.code = failure.code ?? (status === 0 ? 'network' : 'unknown');
    this.hint = failure.hint;
    this.requestId = failure.requestId;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
