import { oauthRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Features } from '../features.ts';
import { addToQuery } from '../oauth/return-to.ts';

export const checkReturn = ({ oauth }: Features) =>
  route(oauthRoutes.checkReturn, async ({ identity, query }) => {
    await oauth.checkReturn(identity.project, query.returnTo);
    return { body: { ok: true as const } };
  });

export const handOverSession = ({ users, oauth, handovers }: Features) =>
  route(oauthRoutes.handOverSession, async ({ body, identity }) => {
    const { project } = identity;
    await oauth.checkReturn(project, body.returnTo);
    const { sessionId } = await users.findBySession(identity);
    const code = await handovers.begin(project.number, sessionId, body.challenge);
    return { body: { url: addToQuery(body.returnTo, { code }) } };
  });

export const takeSession = ({ users, handovers, accessTokens, merges, database }: Features) =>
  route(oauthRoutes.takeSession, async ({ body, identity }) => {
    const { project } = identity;
    const session = await handovers.read(project.number, body);
    const ofSession = { ...identity, userId: session.userId, sessionId: session.id };
    const { user } = await users.findBySession(ofSession);
    const token = await accessTokens.issue(project.id, session);
    return {
      transact: () =>
        database.transaction(async () => {
          await handovers.use(project.number, body.code);
          if (body.merge) await merges.into(identity, session.userId, session);
          return { body: { token, user: users.present(user) } };
        }),
    };
  });
