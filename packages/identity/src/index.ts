/**
 * The identity that the gateway hands to services: who calls, for which project, from where.
 * It travels as one signed header that is good for one service and one route, for seconds. This package
 * refuses to know what a token is or who may do what.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type IdentityKey, signingKey } from './keys.ts';

export * from './keys.ts';

export const identityHeader = 'x-backlot-identity';
/** On the answer of a service that could not verify an identity: a fault of the platform, not the caller's. */
export const identityRefusedHeader = 'x-backlot-identity-refused';

/** How long a signed identity is accepted after it was made; covers the slowest way to a service. */
export const identityTtlMs = 30_000;

export interface IdentityProject {
  /** Public id, as in the path. */
  id: string;
  /** Internal number: the tenant column of every table. */
  number: number;
  name: string;
  ownerId: string | null;
  settings: Record<string, unknown>;
  /** What the users of some roles may beyond what rules say, by role; absent where there is nothing. */
  powers?: Readonly<Record<string, readonly string[]>>;
  /** Beside another project: nothing in it is real. */
  isPreview?: true;
}

/** What the gateway holds back of the owner's credits for this call. */
export interface Reservation {
  /** UUIDv7; names the call in the usage event and in the ledger. */
  callId: string;
  /** The call may not cost more. */
  millicredits: number;
  /** The price in force when it was reserved. */
  millicreditsPerUnit: number;
  /** Whose budget leaves less than the call wanted; absent where it is the owner's credits. */
  boundBy?: 'visitors' | 'project';
}

/** A group of a project's users, and what one of them is in it. */
export interface GroupMembership {
  id: string;
  role: string;
}

export interface Identity {
  project: IdentityProject;
  caller: 'anonymous' | 'user' | 'owner' | 'key' | 'operator';
  /** The user of this project (`user`) or of `platform` (`owner`: the project's own, or a member). */
  userId: string | null;
  sessionId: string | null;
  keyId: string | null;
  /** Of an operator alone; absent from gateways of before. */
  operator?: { readonly name: string; readonly scope: string };
  /** Of a key alone; absent from gateways of before. */
  keyScopes?: readonly string[];
  /** Of a user alone: what the project's owner has made of them; `user` unless stated. */
  role?: string;
  /** Of an `owner` in a project of somebody else: what they are in it. Absent from the project's own owner. */
  memberRole?: 'viewer' | 'editor' | 'admin';
  /** The groups that a user is in, at most 100; absent where there is none. */
  groups?: readonly GroupMembership[];
  /** Of a user alone: has no account. Absent from gateways of before. */
  isGuest?: true;
  /** Of a user alone: they have shown that their address is theirs; absent where they have not. */
  emailVerified?: true;
  /** The client's address, IPv6 cut to its /64; what an anonymous caller is known by. */
  ip: string;
  /** What the client calls itself, at most 300 characters; for auth and changes of the control plane, where it said anything. */
  userAgent?: string;
  /** Null or absent where the call is free. */
  reservation?: Reservation | null;
  /** An `anonymous` caller sent a credential that is no good; only on routes that look at it themselves. */
  hasBadCredential?: true;
  /** An `anonymous` caller is a user who is blocked, and reads what anyone reads. */
  isBlocked?: true;
  /** The project's owner looks as somebody else: it is no call of theirs. */
  isView?: true;
}

/** Whether this caller has been given the power; the project's own callers have all. */
export const hasPower = ({ caller, role = 'user', project }: Identity, power: string): boolean =>
  caller === 'user' ? powersOfRole(project, role).includes(power) : caller !== 'anonymous';

/** What the users of a role may beyond what rules say. */
export const powersOfRole = ({ powers = {} }: IdentityProject, role: string): readonly string[] =>
  Object.hasOwn(powers, role) ? (powers[role] ?? []) : [];

export class IdentityInvalid extends Error {
  override readonly name = 'IdentityInvalid';
}

const mac = (payload: string, call: string, { sender, receiver, secret }: IdentityKey) =>
  createHmac('sha256', secret).update(`${sender}-${receiver} ${call}\n`).update(payload).digest();

/**
 * @param call what it is good for: the operation of a route, or method and path of an internal one
 * @param now epoch milliseconds
 * Returns `<expiry>.<base64url JSON>.<base64url HMAC-SHA256>`; receiver and call are signed, not sent.
 */
export const signIdentity = (
  identity: Identity,
  call: string,
  key: IdentityKey,
  now: number,
): string => {
  const payload = `${now + identityTtlMs}.${Buffer.from(JSON.stringify(identity)).toString('base64url')}`;
  return `${payload}.${mac(payload, call, key).toString('base64url')}`;
};

/**
 * @param keys of which one has to have signed it
 * @throws IdentityInvalid when it was signed for another call or with another key, or has expired
 */
export const verifyIdentity = (
  header: unknown,
  call: string,
  keys: readonly IdentityKey[],
  now: number,
): Identity => {
  if (typeof header !== 'string') throw new IdentityInvalid('no identity');
  const cut = header.lastIndexOf('.');
  const payload = header.slice(0, cut);
  const given = Buffer.from(header.slice(cut + 1), 'base64url');
  const isSigned = keys.some((key) => {
    const expected = mac(payload, call, key);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
  if (!isSigned) throw new IdentityInvalid('wrong signature');
  const dot = payload.indexOf('.');
  if (Number(payload.slice(0, dot)) < now) throw new IdentityInvalid('expired');
  return JSON.parse(Buffer.from(payload.slice(dot + 1), 'base64url').toString()) as Identity;
};

/** What a process signs when it asks a service something for itself; no project has this number. */
export const internalIdentity: Identity = {
  project: { id: 'internal', number: 0, name: 'internal', ownerId: null, settings: {} },
  caller: 'operator',
  userId: null,
  sessionId: null,
  keyId: null,
  ip: '127.0.0.1',
};

/** A header is signed anew after this, so that it never arrives with its last seconds. */
const signedAgainMs = 10_000;
const cachedIdentities = 20_000;

interface Signed {
  header: string;
  project: Identity['project'];
  groups: Identity['groups'] | undefined;
  /** Epoch milliseconds. */
  at: number;
}

export interface IdentitySigner {
  /**
   * The same header for the same caller and call within 10 seconds.
   * @param receiver the service whose operation `call` is
   */
  sign(identity: Identity, receiver: string, call: string): string;
}

export interface IdentityVerifier {
  /** The identity is shared between calls: it is frozen. @throws IdentityInvalid */
  verify(header: unknown, call: string): Identity;
}

/**
 * One caller's next call most often carries the same identity. Signing and checking it anew each time
 * was an eighth of the CPU samples of a get through the all-in-one (wrk, 64 connections).
 */
export const createIdentitySigner = (
  keys: readonly IdentityKey[],
  now: () => number,
): IdentitySigner => {
  const signed = new LRUCache<string, Signed>({
    maxSize: cachedIdentities,
    sizeCalculation: () => 1,
  });
  const keyByReceiver = new Map<string, IdentityKey>();
  const findKey = (receiver: string) => {
    const known = keyByReceiver.get(receiver);
    if (known) return known;
    const key = signingKey(keys, receiver);
    keyByReceiver.set(receiver, key);
    return key;
  };
  return {
    sign(identity, receiver, call) {
      // A reservation is for one call.
      if (identity.reservation) return signIdentity(identity, call, findKey(receiver), now());
      const { project, caller, userId, sessionId, keyId, role, groups, emailVerified, ip } =
        identity;
      const cacheKey = `${receiver} ${call} ${project.number} ${caller} ${userId} ${sessionId} ${keyId} ${role} ${identity.memberRole} ${emailVerified} ${ip} ${identity.hasBadCredential} ${identity.isBlocked} ${identity.isView} ${identity.operator?.name} ${identity.operator?.scope} ${identity.userAgent}`;
      const known = signed.get(cacheKey);
      const at = now();
      const isSame = known && known.project === project && known.groups === groups;
      if (isSame && at - known.at < signedAgainMs) return known.header;
      const header = signIdentity(identity, call, findKey(receiver), at);
      signed.set(cacheKey, { header, project, groups, at });
      return header;
    },
  };
};

/** @param keys of which one has to have signed what comes */
export const createIdentityVerifier = (
  keys: readonly IdentityKey[],
  now: () => number,
): IdentityVerifier => {
  const verified = new LRUCache<string, { identity: Identity; call: string; expiresAt: number }>({
    maxSize: cachedIdentities,
    sizeCalculation: () => 1,
  });
  return {
    verify(header, call) {
      const known = typeof header === 'string' ? verified.get(header) : undefined;
      if (known && known.call === call && known.expiresAt >= now()) return known.identity;
      const identity = verifyIdentity(header, call, keys, now());
      Object.freeze(identity.project.settings);
      for (const powers of Object.values(identity.project.powers ?? {})) Object.freeze(powers);
      Object.freeze(identity.project.powers);
      Object.freeze(identity.project);
      for (const group of identity.groups ?? []) Object.freeze(group);
      Object.freeze(identity.groups);
      Object.freeze(identity.operator);
      Object.freeze(identity);
      // A reservation is for one call: 20,000 such identities would hold 18 MiB for nothing.
      if (identity.reservation) return identity;
      const text = String(header);
      const expiresAt = Number(text.slice(0, text.indexOf('.')));
      verified.set(text, { identity, call, expiresAt });
      return identity;
    },
  };
};
