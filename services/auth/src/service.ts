/**
 * Accounts: users, passwords, sessions, signing keys, one-time links, sign-in attempts.
 * Refuses to know what a project is beyond its number, who owns one, how a mail is sent, and how a
 * bearer token becomes a caller (the gateway's business).
 */
import {
  type AccountDirectory,
  platformProject,
  type SessionDirectory,
  type UserDirectory,
} from '@backlot/contract';
import { defineService, type ServiceContext } from '@backlot/service';
import { eraseProject, sweepExpired } from './cleanup.ts';
import { type AuthConfig, authConfig } from './config.ts';
import { createFeatures } from './features.ts';
import { internalRoutes } from './internal.ts';
import type { PasswordHasher } from './passwords/passwords.ts';
import { authServiceRoutes } from './routes/index.ts';
import { ensureOwner, type NewOwner } from './users/ensure-owner.ts';

export interface AuthContext extends ServiceContext<AuthConfig> {
  hasher: PasswordHasher;
}

export const authService = defineService({
  name: 'auth',
  migrations: new URL('../migrations/', import.meta.url),
  config: authConfig,
  build(context: AuthContext) {
    const { database, now } = context;
    const features = createFeatures(context);
    const { users, signingKeys, passwords } = features;
    const sessions: SessionDirectory = {
      findSession: (project, id) =>
        database.inProject(project, () => features.sessions.find(project, id)),
      jwks: signingKeys.jwks,
    };
    const accounts: AccountDirectory = {
      registered: (project, emails) =>
        database.inProject(project, () => users.registered(project, emails)),
      async findAccount(project, userId) {
        const account = await database.inProject(project, () => users.find(project, userId));
        if (!account) return null;
        const { email, name, email_verified: emailVerified } = account;
        return { email, name, emailVerified };
      },
    };
    const roles: UserDirectory = {
      findRoleAndGroups: (project, userId) =>
        database.inProject(project, () => users.findRoleAndGroups(project, userId)),
      findHolder: (project, email) =>
        database.inProject(project, () => users.findHolder(project, email)),
    };
    const directories = { sessions, accounts, users: roles };
    return {
      routes: authServiceRoutes(features),
      internal: internalRoutes(directories),
      queues: { hashes: passwords },
      subscriptions: {
        'project.erased': ({ projectNumber }) => eraseProject(database, projectNumber),
        'key.revoked': (key) => features.endedKeys.end(key),
        'share.requested': ({ projectNumber, email }) => users.tellVerified(projectNumber, email),
      },
      sweeps: [
        { run: () => sweepExpired(database, now) },
        // Tells the other processes that the current key is in use.
        { run: () => signingKeys.jwks(), everyMs: 60_000 },
      ],
      start: () => Promise.all([signingKeys.jwks(), passwords.prepare()]),
      api: {
        directories,
        /** The account of an owner with a verified address; an existing one is left as it is. */
        ensureOwner: (owner: NewOwner) =>
          database.inProject(platformProject.number, () => ensureOwner(features, owner)),
      },
    };
  },
});
