import type { EventPayloads, ProjectDirectory } from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import { deriveOwnKeys, type IdentityKey } from '@backlot/identity';
import { createSealer, type Sealer } from '@backlot/sealing';
import { createNoteFindings, type NoteFindings } from '@backlot/service';
import type { Logger } from '@backlot/telemetry';
import { type Attempts, createAttempts } from './attempts.ts';
import { type Codes, createCodes } from './codes/codes.ts';
import type { AuthConfig } from './config.ts';
import { type Counters, createCounters } from './counters.ts';
import { createFactors, type Factors } from './factors/factors.ts';
import { createRecoveryCodes, type RecoveryCodes } from './factors/recovery-codes.ts';
import { createRememberedDevices, type RememberedDevices } from './factors/remembered-devices.ts';
import { createTotps, type Totps } from './factors/totp.ts';
import { createWaitingSignIns, type WaitingSignIns } from './factors/waiting-sign-ins.ts';
import { createEndedKeys, type EndedKeys } from './groups/ended-keys.ts';
import { createGroups, type Groups } from './groups/groups.ts';
import { createInvites, type Invites } from './groups/invites.ts';
import { createMembers, type Members } from './groups/members.ts';
import { createGuests, type Guests } from './guests/guests.ts';
import {
  createOauthFeatures,
  type OauthFeatureOptions,
  type OauthFeatures,
} from './identities/oauth-features.ts';
import { createEmailChanges, type EmailChanges } from './links/email-changes.ts';
import { createLinks, type Links } from './links/links.ts';
import { type Challenges, createChallenges } from './passkeys/challenges.ts';
import { createPasskeys, type Passkeys } from './passkeys/passkeys.ts';
import { createFindRelyingParty, type FindRelyingParty } from './passkeys/relying-party.ts';
import { createPasswords, type PasswordHasher, type Passwords } from './passwords/passwords.ts';
import { createProofOfWork, type ProofOfWork } from './proof-of-work/proof-of-work.ts';
import { type AccessTokens, createAccessTokens } from './sessions/access-tokens.ts';
import { createSessions, type Sessions } from './sessions/sessions.ts';
import { createSigningKeys, type SigningKeys } from './sessions/signing-keys.ts';
import { type BeginSession, createBeginSession } from './sign-in/begin-session.ts';
import { createNoteNewcomer, type NoteNewcomer } from './sign-in/junk-signs.ts';
import { createMerges, type Merges } from './sign-in/merges.ts';
import { createSignInEvents, type SignInEvents } from './sign-in-events/sign-in-events.ts';
import { type Blocks, createBlocks } from './users/blocks.ts';
import { createPeople, type People } from './users/people.ts';
import { createProveAddress, type ProveAddress } from './users/prove-address.ts';
import { createSeenUsers, type SeenUsers } from './users/seen-users.ts';
import { createUserLists, type UserLists } from './users/user-lists.ts';
import { createUsers, type Users } from './users/users.ts';

/** What the routes call. */
export interface Features extends OauthFeatures {
  accessTokens: AccessTokens;
  attempts: Attempts;
  beginSession: BeginSession;
  blocks: Blocks;
  challenges: Challenges;
  codes: Codes;
  config: AuthConfig;
  counters: Counters;
  database: Database;
  emailChanges: EmailChanges;
  endedKeys: EndedKeys;
  factors: Factors;
  findings: NoteFindings;
  findRelyingParty: FindRelyingParty;
  groups: Groups;
  guests: Guests;
  invites: Invites;
  links: Links;
  members: Members;
  merges: Merges;
  noteNewcomer: NoteNewcomer;
  passkeys: Passkeys;
  passwords: Passwords;
  proofOfWork: ProofOfWork;
  proofs: ProveAddress;
  recoveryCodes: RecoveryCodes;
  rememberedDevices: RememberedDevices;
  sealer: Sealer;
  seenUsers: SeenUsers;
  people: People;
  sessions: Sessions;
  signInEvents: SignInEvents;
  signingKeys: SigningKeys;
  totps: Totps;
  userLists: UserLists;
  users: Users;
  waitingSignIns: WaitingSignIns;
}

export interface FeatureOptions extends OauthFeatureOptions {
  config: AuthConfig;
  database: Database;
  hasher: PasswordHasher;
  now: () => number;
  log: Logger;
  outbox: Outbox<EventPayloads>;
  identityKeys: readonly IdentityKey[];
  projects: ProjectDirectory;
}

export const createFeatures = (options: FeatureOptions): Features => {
  const { config, database, now, outbox } = options;
  const attempts = createAttempts(database, now);
  const findings = createNoteFindings(outbox, now);
  const signInEvents = createSignInEvents(options);
  const users = createUsers(database, outbox, now);
  const groups = createGroups({ ...options, users });
  const links = createLinks({ ...options, users });
  const endedKeys = createEndedKeys(database, now);
  const signingKeys = createSigningKeys(options);
  const sessions = createSessions({ ...options, users });
  const waitingSignIns = createWaitingSignIns(database, now);
  const rememberedDevices = createRememberedDevices(database, now);
  const recoveryCodes = createRecoveryCodes(database);
  const sealer = createSealer(config.secretsKeys);
  const totps = createTotps({ database, sealer, now });
  const merges = createMerges({ ...options, users, sessions, signInEvents });
  const challengeKeys = deriveOwnKeys(options.identityKeys, 'auth', 'passkey challenges');
  const accessTokens = createAccessTokens(signingKeys, config.issuer, now);
  return {
    ...createOauthFeatures(options),
    beginSession: createBeginSession({
      sessions,
      accessTokens,
      users,
      signInEvents,
      waitingSignIns,
      rememberedDevices,
      merges,
    }),
    blocks: createBlocks({ database, users, now }),
    accessTokens,
    challenges: createChallenges({ database, keys: challengeKeys, now }),
    attempts,
    codes: createCodes({
      ...options,
      codeKeys: deriveOwnKeys(options.identityKeys, 'auth', 'codes by mail'),
    }),
    config,
    counters: createCounters(config.limits),
    database,
    emailChanges: createEmailChanges({ ...options, users, links }),
    endedKeys,
    factors: createFactors({ database, outbox, totps, recoveryCodes }),
    findings,
    findRelyingParty: createFindRelyingParty({
      projects: options.projects,
      publicUrl: config.publicUrl,
    }),
    groups,
    guests: createGuests({ ...options, users, sessions }),
    invites: createInvites({ ...options, users, groups, endedKeys }),
    links,
    members: createMembers({ database, groups }),
    merges,
    noteNewcomer: createNoteNewcomer(findings),
    passkeys: createPasskeys(database, now),
    passwords: createPasswords(options),
    proofOfWork: createProofOfWork({ ...config, attempts, now }),
    recoveryCodes,
    rememberedDevices,
    sealer,
    proofs: createProveAddress({ database, users, sessions, now }),
    seenUsers: createSeenUsers(database, now),
    people: createPeople(database, now),
    sessions,
    signInEvents,
    signingKeys,
    totps,
    userLists: createUserLists(database, now),
    users,
    waitingSignIns,
  };
};
