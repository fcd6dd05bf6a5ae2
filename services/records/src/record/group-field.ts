import { ApiError } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { type Access, bypassesRules } from '../collections/access.ts';
import { checkKnowsGroups, type Place } from '../collections/forbidden.ts';

interface Sent {
  data?: unknown;
  groupId?: string | undefined;
}

/** Where rules name groups, `groupId` inside data is dropped, as the record's other own fields are. */
export const withoutGroupId = <T extends Sent>(sent: T, { compiled }: Access): T => {
  const { data } = sent;
  if (!compiled.uses.group || typeof data !== 'object' || data === null) return sent;
  if (!Object.hasOwn(data, 'groupId')) return sent;
  const rest = Object.entries(data).filter(([name]) => name !== 'groupId');
  return { ...sent, data: Object.fromEntries(rest) };
};

/**
 * Whether the caller may make a record of this group: its members and the project's own callers may,
 * whatever else the rules allow. @throws ApiError invalid_body, unauthenticated, forbidden
 */
export const checkGroup = (
  access: Access,
  identity: Identity,
  place: Place,
  groupId: string | undefined,
): void => {
  if (groupId === undefined) return;
  checkKnowsGroups(access, place, 'groupId', 'invalid_body');
  if (bypassesRules(identity) || access.groupIds.includes(groupId.toLowerCase())) return;
  if (access.userId === null) throw new ApiError('unauthenticated', 'Sign in first.');
  throw new ApiError('forbidden', '"groupId": you are not a member of this group.', {
    hint: 'GET /groups lists yours. One that was joined just now is known everywhere within 5 seconds.',
  });
};
