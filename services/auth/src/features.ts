import type { EventPayloads } from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import type { Logger } from '@backlot/telemetry';
import { type Attempts, type Counters, createAttempts, createCounters } from './attempts.ts';
import type { AuthConfig } from './config.ts';
import { createEndedKeys, type EndedKeys } from './groups/ended-keys.ts';
import { createGroups, type Groups } from './groups/groups.ts';
import { createInvites, type Invites } from './groups/invites.ts';
import { createMembers, type Members } from './groups/members.ts';
import { createEmailChanges, type EmailChanges } from './links/email-changes.ts';
import { createLinks, type Links } from './links/links.ts';
import { createPasswords, type PasswordHasher, type Passwords } from './passwords/passwords.ts';
import { type AccessTokens, createAccessTokens } from './sessions/access-tokens.ts';
import { createSessions, type Sessions } from './sessions/sessions.ts';
import { createSigningKeys, type SigningKeys } from './sessions/signing-keys.ts';
import { createUserLists, type UserLists } from './users/user-lists.ts';
import { createUsers, type Users } from './users/users.ts';

/** What the routes call. */
export interface Features {
  accessTokens: AccessTokens;
  attempts: Attempts;
  config: AuthConfig;
  counters: Counters;
  database: Database;
  emailChanges: EmailChanges;
  endedKeys: EndedKeys;
  groups: Groups;
  invites: Invites;
  links: Links;
  members: Members;
  passwords: Passwords;
  sessions: Sessions;
  signingKeys: SigningKeys;
  userLists: UserLists;
  users: Users;
}

export interface FeatureOptions {
  config: AuthConfig;
  database: Database;
  hasher: PasswordHasher;
  now: () => number;
  log: Logger;
  outbox: Outbox<EventPayloads>;
}

export const createFeatures = (options: FeatureOptions): Features => {
  const { config, database, now, outbox } = options;
  const users = createUsers(database, outbox, now);
  const groups = createGroups({ ...options, users });
  const links = createLinks({ ...options, users });
  const endedKeys = createEndedKeys(database, now);
  const signingKeys = createSigningKeys(options);
  return {
    accessTokens: createAccessTokens(signingKeys, config.issuer, now),
    attempts: createAttempts(database, now),
    config,
    counters: createCounters(config.limits),
    database,
    emailChanges: createEmailChanges({ ...options, users, links }),
    endedKeys,
    groups,
    invites: createInvites({ ...options, users, groups, endedKeys }),
    links,
    members: createMembers({ database, groups }),
    passwords: createPasswords(options),
    sessions: createSessions({ ...options, users }),
    signingKeys,
    userLists: createUserLists(database),
    users,
  };
};
