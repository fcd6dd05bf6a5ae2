/** Inside of a SELECT: who builds waits no longer for a lock, so that others' turns come. */
export const shortLockWaitsSql = `set_config('lock_timeout', '100ms', true)`;
