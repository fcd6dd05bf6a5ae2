import { ApiError, authRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import { addressDigest } from '../attempts.ts';
import type { Nouns } from '../nouns.ts';
import { checkPassword } from '../password-rules.ts';
import { presentUser } from '../users.ts';

export const signUp = (nouns: Nouns) =>
  route(authRoutes.signUp, async ({ body, identity }) => {
    const {
      users,
      passwords,
      sessions,
      tokens,
      oneTimeTokens,
      events,
      attempts,
      counters,
      config,
      database,
    } = nouns;
    const { project, ip } = identity;
    await checkPassword(body.password, body.email);

    const { user, session } = await attempts.countCalls(
      project.number,
      counters.signUp(ip),
      async () => {
        await users.refuseTaken(project.number, body.email);
        const passwordHash = await passwords.hash(project.number, body.password);
        return database.transaction(async () => {
          const user = await users.add(project.number, {
            email: body.email,
            name: body.name ?? null,
            passwordHash,
            emailVerified: false,
          });
          const session = await sessions.start(project.number, user, addressDigest(ip));
          if (!session) throw new ApiError('internal', 'The new account has no session.');
          const { token, expiresAt } = await oneTimeTokens.issue(
            project.number,
            user.id,
            'verify',
            config.verifyTokenMs,
          );
          await events.emit('mail.requested', {
            projectId: project.id,
            projectNumber: project.number,
            projectName: project.name,
            to: user.email,
            name: user.name,
            template: 'verify-email',
            token,
            expiresAt: expiresAt.toISOString(),
          });
          return { user, session };
        });
      },
    );
    return { body: { token: await tokens.issue(project.id, session), user: presentUser(user) } };
  });
