const LOCK_NOT_AVAILABLE = '55P03';

/** Whether a lock was not to be had in the time that `lock_timeout` gives. */
export const isLockTimeout = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === LOCK_NOT_AVAILABLE;

/** Inside of a SELECT: who builds waits no longer for a lock, so that others' turns come. */
export const shortLockWaitsSql = `set_config('lock_timeout', '100ms', true)`;
