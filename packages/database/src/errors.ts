import pg from 'pg';

/** PostgreSQL can't be reached, is starting or stopping, or has no free connection in time. */
export class DatabaseUnavailable extends Error {
  override readonly name: string = 'DatabaseUnavailable';
  readonly isUnavailable = true;
}

/** PostgreSQL refuses the role or its password: until one of the two is changed, no new connection is to be had. */
export class DatabaseRefused extends DatabaseUnavailable {
  override readonly name = 'DatabaseRefused';
  readonly isRefused = true;
}

/** A statement was cancelled because it ran past the statement time-out. */
export class StatementTimeout extends Error {
  override readonly name = 'StatementTimeout';
}

/** A statement has waited for a lock for longer than it may (`retryLocked`). */
export class LockTimeout extends StatementTimeout {}

const QUERY_CANCELED = '57014';
const LOCK_NOT_AVAILABLE = '55P03';
/** Connection exceptions, insufficient resources, operator intervention: Appendix A of PostgreSQL's manual. */
const unavailableClasses = new Set(['08', '53', '57']);

/** PgBouncer says it with a code of the protocol. */
const isRefusedByPooler = ({ code, message }: pg.DatabaseError) =>
  code === '08P01' && /authentication failed|no such user/.test(message);

/** The role is not known, may not log in, or has another password. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof pg.DatabaseError &&
  (error.code?.startsWith('28') === true || isRefusedByPooler(error));

export const translate = (error: unknown): unknown => {
  if (error instanceof pg.DatabaseError) {
    if (error.code === QUERY_CANCELED)
      return new StatementTimeout('statement time-out', { cause: error });
    if (error.code === LOCK_NOT_AVAILABLE)
      return new LockTimeout('a lock was not free in time', { cause: error });
    if (isRefusal(error))
      return new DatabaseRefused('PostgreSQL refuses the role or its password', { cause: error });
    if (unavailableClasses.has(error.code?.slice(0, 2) ?? '')) {
      return new DatabaseUnavailable('PostgreSQL refuses work', { cause: error });
    }
    return error;
  }
  return isConnectionLoss(error)
    ? new DatabaseUnavailable('PostgreSQL is out of reach', { cause: error })
    : error;
};

const lossCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
/** pg and pg-pool report these without a code. */
const lossMessages =
  /^(Connection terminated|timeout expired|Query read timeout|timeout exceeded when trying to connect|Client has encountered a connection error|Cannot use a pool after|Client was closed)/;

const isConnectionLoss = (error: unknown): boolean => {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return lossCodes.has(String(code)) || lossMessages.test(String(message));
};

/** A node of a Citus cluster adds the shard's number, and names some constraints in its message alone. */
const constraintIn = ({ constraint, message }: pg.DatabaseError): string | undefined =>
  (constraint ?? /constraint "(.+?)"/.exec(message)?.[1])?.replace(/_\d{6,}$/, '');

/** From a node of a cluster, some come as internal errors. */
const isViolation = ({ code, message }: pg.DatabaseError): boolean =>
  code?.startsWith('23') || (code === 'XX000' && / violates [a-z ]+ constraint "/.test(message));

/** The violated constraint's name, or undefined where the error is none. */
export const violatedConstraint = (error: unknown): string | undefined =>
  error instanceof pg.DatabaseError && isViolation(error) ? constraintIn(error) : undefined;

const DEADLOCK_DETECTED = '40P01';

/** PostgreSQL has rolled back the statement or transaction to free another; it may run again. */
export const isDeadlock = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code === DEADLOCK_DETECTED;
