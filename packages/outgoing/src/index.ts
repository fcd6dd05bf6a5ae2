/**
 * Calls to addresses that owners have named. Refuses to reach what is not public: it connects to addresses that
 * were checked after the name was resolved, follows no redirect and sends no credential of its own.
 */
export {
  hostName,
  isLoopbackHost,
  type Names,
  NotFetched,
  refusal,
  systemNames,
} from './addresses.ts';
export {
  type CallOptions,
  createGuardedFetch,
  fetchText,
  type GuardedFetch,
  postText,
} from './calls.ts';
