import type { LimitClass } from '../define-route.ts';
import type { KeyScope } from '../rights/key-scopes.ts';
import type { GivenRole } from '../rights/member-roles.ts';
import type { OperatorScope } from '../rights/operator-scopes.ts';
import type { PowersOfRoles } from '../rights/powers.ts';
import type { Suspendable } from '../rights/suspensions.ts';
import type { ProjectSettings } from '../routes/projects/project-settings.ts';

/** The built-in project whose users are the owners. */
export const platformProject = { id: 'platform', number: 1 } as const;

export type ClassLimits = Record<LimitClass, { perCaller: number; perProject: number }>;

/** docs/api.md, "Limits and credits": calls a minute. */
export const defaultLimits: ClassLimits = {
  read: { perCaller: 1200, perProject: 12_000 },
  write: { perCaller: 600, perProject: 6000 },
  ai: { perCaller: 60, perProject: 600 },
  upload: { perCaller: 60, perProject: 600 },
  email: { perCaller: 20, perProject: 200 },
  payments: { perCaller: 30, perProject: 300 },
  messages: { perCaller: 600, perProject: 6000 },
};

export interface ProjectSnapshot {
  id: string;
  number: number;
  name: string;
  ownerId: string | null;
  status: 'active' | 'paused' | 'deleted';
  /** Who has paused it, and can resume it. */
  pausedBy?: 'owner' | 'operator';
  /** What the operator has suspended of it; absent where nothing is. With `all` its status is paused. */
  suspended?: readonly Suspendable[];
  settings: ProjectSettings;
  /** Origins that are proven to be the owner's; absent where there is none. */
  verifiedOrigins?: readonly string[];
  /** Who else works on it, by the id of the account; absent where nobody does. */
  members?: Readonly<Record<string, GivenRole>>;
  /** What the users of these roles may; absent where no role may more than rules say. */
  powers?: PowersOfRoles;
  /** From before mail templates: where `mailContent` is not said, its visitors send any words. */
  hasFreeMail?: boolean;
  /** Of a preview: the id of its project, and the SHA-256 of the token that leads to it there, base64url. */
  preview?: { of: string; tokenHash: string };
  /** Calls a minute. */
  limits: ClassLimits;
}

export interface KeySnapshot {
  id: string;
  projectNumber: number;
  /** Absent from answers of older versions: `read` and `write`. */
  scopes?: readonly KeyScope[];
  /** Epoch milliseconds; absent where the key has no end. */
  expiresAtMs?: number;
}

export interface OperatorSnapshot {
  name: string;
  scope: OperatorScope;
  /** Epoch milliseconds. */
  expiresAtMs: number;
}

/** Offered by the projects service. Unknown ids and hashes answer null. */
export interface ProjectDirectory {
  findProject(id: string): Promise<ProjectSnapshot | null>;
  /** @param keyHash SHA-256 of the secret key, base64url. */
  findKey(keyHash: string): Promise<KeySnapshot | null>;
}

/** Offered by the projects service. */
export interface OperatorDirectory {
  /** @param tokenHash SHA-256 of the operator's token, base64url. Null where it is unknown. */
  findOperator(tokenHash: string): Promise<OperatorSnapshot | null>;
}

/** Offered by the projects service. */
export interface HostDirectory {
  /**
   * Which project is served at an owner's host name: the one that has proven its origin, the first of several. Null
   * where there is none.
   */
  findHost(host: string): Promise<{ projectId: string } | null>;
}

/** Offered by the projects service. */
export interface KeyDirectory {
  /** False once the secret key was revoked, or its time is over. */
  isLive(projectNumber: number, keyId: string): Promise<boolean>;
}

/** Offered by the projects service. */
export interface OwnerDirectory {
  /** Whether the owner counts as verified: all do where BACKLOT_OWNER_VERIFICATION is off. */
  isVerified(ownerId: string): Promise<boolean>;
}
