import { authRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import { addressDigest } from '../attempts.ts';
import type { Nouns } from '../nouns.ts';

class UnknownAddress extends Error {
  override readonly name = 'UnknownAddress';
}

/**
 * Runs the same statements for an address that nobody has: its token belongs to nobody, its mail is
 * rolled back. Past the limit of mails an address gets none, silently.
 */
export const forgotPassword = (nouns: Nouns) =>
  route(authRoutes.forgotPassword, async ({ body: { email }, identity: { project, ip } }) => {
    const { users, oneTimeTokens, events, attempts, counters, config, database } = nouns;
    await attempts.countCalls(project.number, counters.forgotFrom(ip), async () => {
      if (!(await attempts.isAllowed(project.number, counters.forgotMail(email)))) return;
      await database.transaction(async () => {
        const user = await users.findByEmail(project.number, email, addressDigest(ip));
        const { token, expiresAt } = await oneTimeTokens.issue(
          project.number,
          user?.id ?? null,
          'reset',
          config.resetTokenMs,
        );
        const mail = database.transaction(async () => {
          await events.emit('mail.requested', {
            projectId: project.id,
            projectNumber: project.number,
            projectName: project.name,
            to: email,
            name: user?.name ?? null,
            template: 'reset-password',
            token,
            expiresAt: expiresAt.toISOString(),
          });
          if (!user) throw new UnknownAddress();
        });
        await mail.catch((error: unknown) => {
          if (!(error instanceof UnknownAddress)) throw error;
        });
      });
    });
    return { body: { ok: true as const } };
  });
