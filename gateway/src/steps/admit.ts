import type { ServerResponse } from 'node:http';
import { ApiError, type LimitClass } from '@backlot/contract';
import type { Counters, RateState } from '@backlot/counters';
import { type KnownProject, windowMs } from '../directory/known-project.ts';
import type { Caller } from './authenticate.ts';

/** Name of the caller's own counter; undefined for those whom only the project's limit holds. */
const counterOf = (caller: Caller, address: string): string | undefined => {
  switch (caller.kind) {
    case 'user':
      return `u:${caller.userId}`;
    case 'owner':
      return `o:${caller.userId}`;
    case 'anonymous':
      return `ip:${address}`;
    case 'key':
    case 'operator':
      return undefined;
  }
};

const state = (name: string, { remaining, resetMs }: RateState) =>
  `"${name}";r=${remaining};t=${Math.ceil(resetMs / 1000)}`;

export type Admit = (
  res: ServerResponse,
  project: KnownProject,
  limitClass: LimitClass,
  caller: Caller,
  address: string,
) => Promise<void>;

/**
 * Counts the call against the caller's and the project's limit and states both (header fields of
 * draft-ietf-httpapi-ratelimit-headers, since its version 08: `q` calls in `w` seconds, `r` left, all free in `t`).
 * @throws ApiError rate_limited
 */
export const createAdmit =
  (counters: Counters): Admit =>
  async (res, project, limitClass, caller, address) => {
    const { callerLimit, callerKeyPrefix, projectCheck, policy, projectPolicy } =
      project.admission[limitClass];
    const counter = counterOf(caller, address);
    const admission = await counters.admit(
      counter === undefined
        ? [projectCheck]
        : [{ key: callerKeyPrefix + counter, limit: callerLimit, windowMs }, projectCheck],
    );
    const [first, second] = admission.states;
    if (first && second) {
      res.setHeader('RateLimit-Policy', policy);
      res.setHeader('RateLimit', `${state('caller', first)}, ${state('project', second)}`);
    } else if (first) {
      res.setHeader('RateLimit-Policy', projectPolicy);
      res.setHeader('RateLimit', state('project', first));
    }
    if (admission.allowed) return;
    throw new ApiError('rate_limited', 'Too many calls. Wait before the next one.', {
      retryAfterSeconds: Math.max(1, Math.ceil(admission.retryAfterMs / 1000)),
    });
  };
