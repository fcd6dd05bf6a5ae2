import { createOutbox, type Database, type Outbox } from '@backlot/database';
import { type Attempts, type Counters, createAttempts, createCounters } from './attempts.ts';
import type { AuthConfig } from './config.ts';
import { createEvents, type Events } from './events.ts';
import { createOneTimeTokens, type OneTimeTokens } from './one-time-tokens.ts';
import { createPasswords, type PasswordHasher, type Passwords } from './passwords.ts';
import { createSessions, type Sessions } from './sessions.ts';
import { createSigningKeys, type SigningKeys } from './signing-keys.ts';
import { createTokens, type Tokens } from './tokens.ts';
import { createUsers, type Users } from './users.ts';

/** What the routes are made of. */
export interface Nouns {
  attempts: Attempts;
  config: AuthConfig;
  counters: Counters;
  database: Database;
  events: Events;
  keys: SigningKeys;
  now: () => number;
  oneTimeTokens: OneTimeTokens;
  outbox: Outbox;
  passwords: Passwords;
  sessions: Sessions;
  tokens: Tokens;
  users: Users;
}

export interface NounOptions {
  config: AuthConfig;
  database: Database;
  hasher: PasswordHasher;
  now: () => number;
  onOutboxError: (error: unknown) => void;
}

export const createNouns = ({
  config,
  database,
  hasher,
  now,
  onOutboxError,
}: NounOptions): Nouns => {
  const outbox = createOutbox(database, onOutboxError);
  const events = createEvents(outbox);
  const users = createUsers(database, events, now);
  const { sessionMs, maxSessionsPerUser } = config;
  const keys = createSigningKeys({
    database,
    masterKey: config.masterKey,
    now,
    rotationMs: config.keyRotationMs,
    tokenMs: sessionMs,
  });
  return {
    attempts: createAttempts(database, now),
    config,
    counters: createCounters(config.limits),
    database,
    events,
    keys,
    now,
    oneTimeTokens: createOneTimeTokens(database, users, now),
    outbox,
    passwords: createPasswords({ database, hasher, hashing: config.hashing, now }),
    sessions: createSessions({ database, events, users, now, sessionMs, maxSessionsPerUser }),
    tokens: createTokens({ keys, issuer: config.issuer, now }),
    users,
  };
};
