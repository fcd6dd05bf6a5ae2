import { ApiError, authRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import { hashIp } from '../attempts.ts';
import type { Features } from '../features.ts';
import { handOver, hashUnknownPassword, isOwnClick } from '../links/own-click.ts';

const wrongPassword = () => new ApiError('invalid_credentials', '"password": is wrong.');

/** Answers the same whether somebody has the new address or not. A wrong password counts as a failed sign-in does. */
export const changeEmail = (features: Features) =>
  route(
    authRoutes.changeEmail,
    async ({ body, identity, signal }) => {
      const { users, passwords, emailChanges, attempts, counters, database } = features;
      const { project, ip } = identity;
      const { user } = await users.findBySession(identity);
      if (body.email === user.email)
        throw new ApiError('invalid_body', '"email": is your address already.');
      const found = await users.findByEmail(project.number, user.email, hashIp(ip));

      const verify = () =>
        attempts.countFailures(project.number, counters.signIn(user.email, ip, found), async () => {
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
      const { emailChanges, users, database } = features;
      const { number } = identity.project;
      const click = { identity, signal, password };
      const { account, isToNewAddress } = await emailChanges.findLink(number, token);
      const isOwn = await isOwnClick(features, click, account);
      const isFirstProof = isToNewAddress && !isOwn;
      const unknownPassword = isFirstProof && (await hashUnknownPassword(features, click));
      return {
        transact: () =>
          database.transaction(async () => {
            const changed = await emailChanges.confirm(number, account.id, token);
            const current = await users.find(number, account.id);
            if (current && unknownPassword !== false)
              await handOver(features, click, current, unknownPassword);
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
      const { users, links, emailChanges, database } = features;
      const { number } = identity.project;
      const click = { identity, signal, password };
      const found = await links.findAccount(number, token, 'verify');
      const isOwn = await isOwnClick(features, click, found);
      const isFirstProof = !found.email_verified && !isOwn;
      const unknownPassword = isFirstProof && (await hashUnknownPassword(features, click));
      return {
        body: { ok: true as const },
        commit: () =>
          database.transaction(async () => {
            const account = await links.use(number, found.id, token, 'verify');
            await users.update(number, found.id, { emailVerified: true });
            if (account.email_verified || unknownPassword === false) return;
            await emailChanges.revoke(number, found.id);
            await handOver(features, click, account, unknownPassword);
          }),
      };
    },
    features.passwords.hashingRoute,
  );
