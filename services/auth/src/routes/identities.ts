import { oauthRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Features } from '../features.ts';
import { presentIdentity } from '../identities/identities.ts';
import { recentBeforeTripMs, requireRecentProof } from '../sign-in/recent-proof.ts';
import { sessionEnded } from '../users/refusals.ts';

export const listIdentities = ({ users, identities }: Features) =>
  route(oauthRoutes.listIdentities, async ({ identity }) => {
    const { user } = await users.findBySession(identity);
    const rows = await identities.list(identity.project.number, user.id);
    return { body: { items: rows.map(presentIdentity), hasMore: false, nextCursor: null } };
  });

export const linkIdentity = (features: Features) =>
  route(oauthRoutes.linkIdentity, async ({ identity, body }) => {
    const { users, flows, identities, signInEvents, database } = features;
    const { number } = identity.project;
    const signedIn = await users.findBySession(identity);
    requireRecentProof(signedIn, recentBeforeTripMs);
    const { user } = signedIn;
    const vouched = await flows.readCode(number, body);
    return {
      transact: () =>
        database.transaction(async () => {
          await flows.useCode(number, body.code);
          await identities.lock(number, vouched);
          if (!(await users.lock(number, user.id))) throw sessionEnded();
          // Of a session that has ended meanwhile nothing is linked any more.
          await users.findBySession(identity);
          const linked = await identities.add(number, user.id, vouched);
          const detail = vouched.label;
          await signInEvents.add(identity, user.id, { kind: 'identity_linked', detail });
          return { body: presentIdentity(linked) };
        }),
    };
  });

export const unlinkIdentity = (features: Features) =>
  route(oauthRoutes.unlinkIdentity, async ({ identity, params }) => {
    const { users, identities, waysIn, signInEvents, database } = features;
    const { number } = identity.project;
    const signedIn = await users.findBySession(identity);
    requireRecentProof(signedIn);
    const { user } = signedIn;
    return {
      transact: () =>
        database.transaction(async () => {
          const account = await users.lockAndRead(number, user.id);
          if (!account) throw sessionEnded();
          const { label } = await identities.remove(number, user.id, params.identityId);
          await waysIn.requireOne(number, account);
          await signInEvents.add(identity, user.id, { kind: 'identity_removed', detail: label });
          return { body: { ok: true as const } };
        }),
    };
  });
