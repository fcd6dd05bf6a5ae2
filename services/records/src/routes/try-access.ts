import { randomUUID } from 'node:crypto';
import { ApiError, parseViewAs, recordRoutes, type UserDirectory } from '@backlot/contract';
import { type FairShares, toRequester } from '@backlot/fair-shares';
import { route } from '@backlot/http';
import { resolveAccess, toCallerKind } from '../collections/access.ts';
import type { Collections } from '../collections/collections.ts';
import { checkRuleFilters } from '../collections/terms/check-filters.ts';
import type { AccessTrials } from '../exposure/try-access.ts';
import { findRoleAndGroups } from './access-check.ts';

interface TryAccessDeps {
  collections: Collections;
  trials: AccessTrials;
  users: UserDirectory;
  scans: FairShares;
}

/** @throws ApiError not_found, unavailable */
const findAsker = async (users: UserDirectory, projectNumber: number, as: string) => {
  const view = parseViewAs(as);
  const user = { caller: 'user', groups: [] } as const;
  switch (view?.kind) {
    case 'user': {
      const known = await findRoleAndGroups(users, projectNumber, view.id);
      return { ...user, userId: view.id, ...known };
    }
    case 'role':
      return { ...user, userId: randomUUID(), role: view.role, emailVerified: true };
    default:
      return { caller: 'anonymous', userId: null } as const;
  }
};

export const tryAccess = ({ collections, trials, users, scans }: TryAccessDeps) =>
  route(recordRoutes.tryAccess, async (call) => {
    const { body, params, identity } = call;
    const { project } = identity;
    if (body.access) checkRuleFilters(body.access);
    const collection = await collections.find(project.number, params.collection);
    if (!collection) throw new ApiError('not_found', 'There is no such collection.');
    const asker = await findAsker(users, project.number, body.as);
    const access = body.access ?? collection.access;
    const trial = {
      collection,
      access,
      tried: resolveAccess(access, asker),
      inForce: resolveAccess(collection.access, asker),
      caller: toCallerKind(asker),
      limit: body.limit,
    };
    const tried = await scans.run(
      toRequester(identity),
      (yieldSlot) => trials(trial, yieldSlot),
      call,
    );
    return { body: { as: body.as, ...tried } };
  });
