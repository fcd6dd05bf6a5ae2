import { ApiError, authRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import { hashIp } from '../counters.ts';
import type { Features } from '../features.ts';
import { isOwnClick, mailNewPassword } from '../links/own-click.ts';
import { checkDomain } from '../sign-in/sign-up-rules.ts';
import { requireAddress } from '../users/user-row.ts';

const wrongPassword = () => new ApiError('invalid_credentials', '"password": is wrong.');

/** Answers the same whether somebody has the new address or not. A wrong password counts as a failed sign-in does. */
export const changeEmail = (features: Features) =>
  route(
    authRoutes.changeEmail,
    async ({ body, identity, signal }) => {
      const { users, passwords, emailChanges, attempts, counters, database } = features;
      const { project, ip } = identity;
      const { user } = await users.findBySession(identity);
      const email = requireAddress(user);
      if (body.email === email)
        throw new ApiError('invalid_body', '"email": is your address already.');
      checkDomain(project, body.email);
      const found = await users.findByEmail(project.number, email, hashIp(ip));

      const verify = () =>
        attempts.countFailures(project.number, counters.signIn(email, ip, found), async () => {
          const stored = found?.password_hash;
          const isRight = await passwords.verify({ project, ip, signal }, stored, body.password);
          return isRight ? found : undefined;
        });
      const counted = counters.emailChanges(user.id, ip);
      const account = await attempts.countCalls(project.number, counted, verify);
      if (!account) throw wrongPassword();

      return {
        body: { ok: true as const },
        commit: () =>
          database.transaction(async () => {
            const locked = await users.lock(project.number, user.id);
            if (locked?.password_version !== account.password_version) throw wrongPassword();
            // A click of whoever has the address may have ended the session meanwhile.
            await users.findBySession(identity);
            await emailChanges.request(identity, locked, body.email);
          }),
      };
    },
    features.passwords.hashingRoute,
  );

/**
 * The new address is shown to be somebody's for the first time: sessions and password end, unless who follows
 * its link has the account too. Until the other link was followed a new password ends the change as well.
 */
export const confirmEmailChange = (features: Features) =>
  route(
    authRoutes.confirmEmailChange,
    async ({ body: { token, password }, identity, signal }) => {
      const { emailChanges, users, proofs, database, signInEvents } = features;
      const { number } = identity.project;
      const click = { identity, signal, password };
      const { account, isToNewAddress } = await emailChanges.findLink(number, token);
      const isOwn = await isOwnClick(features, click, account);
      const isFirstProof = isToNewAddress && !isOwn;
      return {
        transact: () =>
          database.transaction(async () => {
            const changed = await emailChanges.confirm(number, account.id, token);
            const current = await users.find(number, account.id);
            if (changed) await signInEvents.add(identity, account.id, { kind: 'email_changed' });
            if (current && isFirstProof) {
              await proofs.endCredentials(number, current);
              await mailNewPassword(features, click, current);
            }
            return { body: { ok: true as const, changed } };
          }),
      };
    },
    features.passwords.hashingRoute,
  );

/**
 * The first proof of an address ends what stood before it, the password too, unless who follows the link has
 * the account as well.
 */
export const verifyEmail = (features: Features) =>
  route(
    authRoutes.verifyEmail,
    async ({ body: { token, password }, identity, signal }) => {
      const { links, proofs, database } = features;
      const { number } = identity.project;
      const click = { identity, signal, password };
      const found = await links.findAccount(number, token, 'verify');
      const isOwn = await isOwnClick(features, click, found);
      return {
        body: { ok: true as const },
        commit: () =>
          database.transaction(async () => {
            const locked = await links.use(number, found.id, token, 'verify');
            const { account, isHandedOver } = await proofs.prove(number, locked, { isOwn });
            if (isHandedOver) await mailNewPassword(features, click, account);
          }),
      };
    },
    features.passwords.hashingRoute,
  );

/** To the address that the account has now, as often as a link for a new password. */
export const resendVerification = ({ users, links, attempts, counters, database }: Features) =>
  route(authRoutes.resendVerification, async ({ identity }) => {
    const { project, ip } = identity;
    const { user } = await users.findBySession(identity);
    const email = requireAddress(user);
    if (user.email_verified)
      throw new ApiError('conflict', 'Your e-mail address is confirmed already.');
    const counted = [...counters.verifyMailsTo(email), ...counters.resetCallsFrom(ip)];
    await attempts.countCalls(project.number, counted, async () => {});
    return {
      body: { ok: true as const },
      commit: () =>
        database.transaction(async () => {
          const locked = await users.lock(project.number, user.id);
          if (!locked || locked.email_verified) return;
          await links.send(identity, 'verify', { ...locked, email: requireAddress(locked) });
        }),
    };
  });
