/**
 * Accounts: users, passwords, sessions, signing keys, one-time links, sign-in attempts.
 * Refuses to know what a project is beyond its number, who owns one, how a mail is sent, and how a
 * bearer token becomes a caller (the gateway's business).
 */
import type { Bus } from '@backlot/bus';
import type { AccountDirectory, SessionDirectory, User } from '@backlot/contract';
import { createIdempotencyStore, createSweeper, type Database } from '@backlot/database';
import { serviceApp } from '@backlot/http';
import type { IdentitySecret } from '@backlot/identity';
import type { Logger } from '@backlot/telemetry';
import type { Express } from 'express';
import type { AuthConfig } from './config.ts';
import { ensureOwner, type NewOwner } from './ensure-owner.ts';
import { eraseProject } from './erase-project.ts';
import { internalRoutes } from './internal.ts';
import { createNouns } from './nouns.ts';
import { createArgon2Hasher, type PasswordHasher } from './passwords.ts';
import { authServiceRoutes } from './routes/index.ts';
import { sweep } from './sweep.ts';

export interface AuthDeps {
  database: Database;
  bus: Bus;
  identitySecret: IdentitySecret;
  /** Epoch milliseconds. */
  now: () => number;
  log: Logger;
  config: AuthConfig;
  /** Checks every answer against the contract; on in tests. */
  checkResponses: boolean;
  /** Argon2id by the config unless given. */
  hasher?: PasswordHasher;
}

export interface AuthService {
  app: Express;
  sessions: SessionDirectory;
  accounts: AccountDirectory;
  /** The account of an owner with a verified address; an existing one is left as it is. */
  ensureOwner(owner: NewOwner): Promise<{ user: User; created: boolean }>;
  /** Opens the signing keys, listens to the bus, relays events, sweeps. */
  start(): Promise<void>;
  /** Ends what start() began, after the work under way. */
  stop(): Promise<void>;
}

export const createAuthService = (deps: AuthDeps): AuthService => {
  const { database, bus, identitySecret, now, log, config, checkResponses } = deps;
  const hasher = deps.hasher ?? createArgon2Hasher(config.argon2);
  const nouns = createNouns({
    config,
    database,
    hasher,
    now,
    onOutboxError: (err) => log.error({ err }, 'events could not be published'),
  });
  const idempotency = createIdempotencyStore(database);
  const sessions: SessionDirectory = { isLive: nouns.sessions.isLive, jwks: nouns.keys.jwks };
  const accounts: AccountDirectory = {
    registered: nouns.users.registered,
    async findAccount(projectNumber, userId) {
      const account = await nouns.users.find(projectNumber, userId);
      return account ? { email: account.email, name: account.name } : null;
    },
  };
  const app = serviceApp({
    routes: authServiceRoutes(nouns),
    internal: internalRoutes(sessions, accounts, identitySecret, now),
    ready: () => database.query('SELECT 1'),
    log,
    identitySecret,
    now,
    idempotency,
    checkResponses,
  });

  const sweeper = createSweeper(
    () => Promise.all([sweep(database, now), idempotency.sweep()]),
    (err) => log.error({ err }, 'the sweep failed; it runs again'),
  );

  return {
    app,
    sessions,
    accounts,
    ensureOwner: (owner) => ensureOwner(nouns, owner),
    async start() {
      await Promise.all([nouns.keys.signer(), nouns.passwords.prepare()]);
      await bus.subscribe({
        queue: 'auth.project-erased',
        topics: ['project.erased'],
        handler: ({ payload }) => eraseProject(database, payload),
      });
      nouns.outbox.start((event) => bus.publish(event));
      sweeper.start();
    },
    async stop() {
      await Promise.all([sweeper.stop(), nouns.outbox.stop()]);
    },
  };
};
