import {
  type ApiError,
  capabilityFor,
  type RouteDefinition,
  suspendedError,
} from '@backlot/contract';
import type { Caller } from '../../directory/caller.ts';
import type { GatewayProject } from '../../directory/gateway-project.ts';

/** Why a call finds what it needs suspended. Owners still look at a suspended project; the operator does anything. */
export const refuseSuspended = (
  { suspended }: Pick<GatewayProject, 'suspended'>,
  { kind }: Pick<Caller, 'kind'>,
  definition: Pick<RouteDefinition, 'capability' | 'plane' | 'service' | 'limit' | 'method'>,
): ApiError | undefined => {
  if (suspended === undefined || kind === 'operator') return undefined;
  const needed = capabilityFor(definition);
  const isWhole = suspended.includes('all');
  if (needed === 'every') return suspendedError(isWhole ? 'all' : (suspended[0] ?? 'all'));
  if (needed !== null && suspended.includes(needed)) return suspendedError(needed);
  const isLook = kind === 'owner' && definition.plane === 'platform' && definition.method === 'GET';
  return isWhole && !isLook ? suspendedError('all') : undefined;
};
