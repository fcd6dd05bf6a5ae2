/**
 * Accounts: users, passwords, sessions, signing keys, one-time links, sign-in attempts.
 * Refuses to know what a project is beyond its number, who owns one, how a mail is sent, and how a
 * bearer token becomes a caller (the gateway's business).
 */
import {
  type AccountDirectory,
  type PeopleDirectory,
  type ProjectDirectory,
  platformProject,
  type SessionDirectory,
  type UserDirectory,
} from '@backlot/contract';
import { deriveOwnKeys } from '@backlot/identity';
import type { GuardedFetch } from '@backlot/outgoing';
import { createSealer } from '@backlot/sealing';
import {
  archiveRouter,
  createArchivePart,
  createSecretsReadiness,
  defineService,
  type ServiceContext,
} from '@backlot/service';
import { createAddressProofs } from './archive/address-proofs.ts';
import { createGroupsArchive, createMembersArchive } from './archive/groups-archive.ts';
import { createUsersArchive } from './archive/users-archive.ts';
import { eraseProject, sweepExpired } from './cleanup.ts';
import { type AuthConfig, authConfig } from './config.ts';
import { createFeatures } from './features.ts';
import { internalRoutes } from './internal.ts';
import type { PasswordHasher } from './passwords/passwords.ts';
import { authServiceRoutes } from './routes/index.ts';
import { createSealStores } from './seals.ts';
import { ensureOwner, type NewOwner } from './users/ensure-owner.ts';

export interface AuthContext extends ServiceContext<AuthConfig> {
  hasher: PasswordHasher;
  /** Settings that the signed identity leaves out, and origins that are proven to be the owner's. */
  projects: ProjectDirectory;
  /** The system's, which reaches public addresses alone, unless a test brings its own. */
  askProviders?: GuardedFetch;
}

/** Of authenticator apps and of clients at providers. */
const sealedSecrets = `(
  SELECT sealed_secret AS sealed FROM factors WHERE expires_at IS NULL
   UNION ALL SELECT sealed FROM auth_providers WHERE sealed IS NOT NULL) AS kept`;

export const authService = defineService({
  name: 'auth',
  migrations: new URL('../migrations/', import.meta.url),
  config: authConfig,
  asks: ['projects'],
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
    const people: PeopleDirectory = {
      findPeople: (asking) =>
        database.inProject(asking.projectNumber, () => features.people.find(asking)),
    };
    const proofs = createAddressProofs(
      deriveOwnKeys(context.identityKeys, 'auth', 'verified addresses in archives'),
      context.now,
    );
    const usersArchive = createArchivePart(database, {
      users: createUsersArchive({ ...context, proofs }),
      groups: createGroupsArchive(database),
      members: createMembersArchive(database),
    });
    const directories = { sessions, accounts, users: roles, people };
    return {
      routes: authServiceRoutes(features),
      internal: internalRoutes(directories).use(archiveRouter(usersArchive)),
      seals: [
        signingKeys.seals,
        ...createSealStores(database, createSealer(context.config.secretsKeys)),
      ],
      queues: { hashes: passwords },
      needs: [
        createSecretsReadiness({ ...context, sealer: features.sealer, kept: sealedSecrets }),
        signingKeys.find,
      ],
      subscriptions: {
        'project.erased': ({ projectNumber }) => eraseProject(database, projectNumber),
        'key.revoked': (key) => features.endedKeys.end(key),
        'share.requested': ({ projectNumber, email }) => users.tellVerified(projectNumber, email),
      },
      sweeps: [
        { run: () => sweepExpired(database, now) },
        { run: () => features.guests.eraseIdle() },
        features.findings.sweep,
        { run: () => features.merges.tellAgain(), everyMs: 15_000 },
        { run: () => features.signInEvents.writeFailures(), everyMs: 1000 },
        { run: () => features.sessions.writeUses(), everyMs: 30_000 },
        // Tells the other processes that the current key is in use.
        { run: () => signingKeys.jwks(), everyMs: 60_000 },
      ],
      start: () => Promise.all([signingKeys.jwks(), passwords.prepare()]),
      stop: () =>
        Promise.all([
          features.signInEvents.writeFailures(),
          features.sessions.writeUses(),
          features.findings.reportAll(),
        ]),
      api: {
        directories: { ...directories, usersArchive },
        /** Tells what was noted of sign-ups; also runs every five seconds. */
        reportFindings: features.findings.report,
        /** The account of an owner with a verified address; an existing one is left as it is. */
        ensureOwner: (owner: NewOwner) =>
          database.inProject(platformProject.number, () => ensureOwner(features, owner)),
      },
    };
  },
});
