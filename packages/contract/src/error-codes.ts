/**
 * Every failure a caller can see, with its HTTP status. A code never changes its meaning;
 * docs/api.md, "Every response" says which status means what.
 */
export const errorStatus = {
  invalid_json: 400,
  invalid_body: 400,
  invalid_query: 400,
  invalid_path: 400,
  invalid_header: 400,
  invalid_where: 400,
  invalid_sort: 400,
  invalid_cursor: 400,
  invalid_data: 400,
  schema_mismatch: 400,
  invalid_link: 400,
  sign_in_expired: 400,
  invalid_secret: 400,
  invalid_signature: 400,
  password_too_weak: 400,
  unauthenticated: 401,
  invalid_token: 401,
  invalid_credentials: 401,
  out_of_credits: 402,
  project_budget: 402,
  forbidden: 403,
  project_paused: 403,
  suspended: 403,
  collection_limit: 403,
  collection_creation_off: 403,
  project_limit: 403,
  key_limit: 403,
  prompt_limit: 403,
  template_limit: 403,
  product_limit: 403,
  rule_limit: 403,
  recipient_not_allowed: 403,
  sending_stopped: 403,
  storage_quota: 403,
  quota_reached: 403,
  limit_reached: 403,
  owner_unverified: 403,
  origin_limit: 403,
  group_limit: 403,
  role_limit: 403,
  webhook_limit: 403,
  member_limit: 403,
  blocked: 403,
  verify_first: 403,
  factor_first: 403,
  reauthentication_needed: 403,
  sign_up_closed: 403,
  not_found: 404,
  project_not_found: 404,
  route_not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  email_taken: 409,
  not_unique: 409,
  idempotency_mismatch: 409,
  idempotency_in_progress: 409,
  conflict: 409,
  checkout_closed: 409,
  out_of_stock: 409,
  origin_unproven: 409,
  not_refundable: 409,
  project_deleted: 410,
  cursor_gone: 410,
  precondition_failed: 412,
  body_too_large: 413,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  query_too_expensive: 422,
  locked: 423,
  proof_of_work_needed: 428,
  rate_limited: 429,
  too_many_attempts: 429,
  visitor_budget: 429,
  request_head_too_large: 431,
  internal: 500,
  upstream_failed: 502,
  unavailable: 503,
  overloaded: 503,
  index_building: 503,
  secrets_unreadable: 503,
  access_refused: 503,
  timeout: 504,
} as const;

export type ErrorCode = keyof typeof errorStatus;

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

export interface ApiErrorOptions {
  /** Logged with the request id, never shown. */
  cause?: unknown;
  /** Shown beside the message: what the developer can do about it. */
  hint?: string;
  /** All that is wrong with the data, where it is that. */
  problems?: readonly Problem[];
  /** With proof_of_work_needed: what is to be solved. */
  challenge?: object;
  /** Seconds after which a retry may succeed; becomes the `Retry-After` header. */
  retryAfterSeconds?: number;
  /** Further response headers, for example `Allow`. */
  headers?: Record<string, string>;
}

/**
 * The one error class: the message is public and is written for a front-end developer. A caller's
 * mistake has no stack: taking one was 9 % of the samples of a call refused by its limit.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly problems: readonly Problem[] | undefined;
  readonly challenge: object | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly headers: Record<string, string>;

  constructor(code: ErrorCode, message: string, options: ApiErrorOptions = {}) {
    const { stackTraceLimit } = Error;
    if (errorStatus[code] < 500) Error.stackTraceLimit = 0;
    super(message, { cause: options.cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.code = code;
    this.hint = options.hint;
    this.problems = options.problems;
    this.challenge = options.challenge;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return errorStatus[this.code];
  }
}
