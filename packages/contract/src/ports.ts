/**
 * What the gateway and services need to know at once, asked of a service in the same process or over
 * HTTP. The gateway caches the answers; events tell it when to forget them.
 */
import type { Caller, LimitClass } from './define-route.ts';
import type { ErrorCode } from './error-codes.ts';
import type { BudgetKind } from './events.ts';
import type { KeyScope } from './key-scopes.ts';
import type { ProjectSettings } from './routes/projects/project-settings.ts';
import type { CollectionShape } from './routes/records/shape.ts';
import type { ServiceName } from './services.ts';

export type ClassLimits = Record<LimitClass, { perCaller: number; perProject: number }>;

export interface ProjectSnapshot {
  id: string;
  number: number;
  name: string;
  ownerId: string | null;
  status: 'active' | 'paused' | 'deleted';
  /** Who has paused it, and can resume it. */
  pausedBy?: 'owner' | 'operator';
  settings: ProjectSettings;
  /** Origins that are proven to be the owner's; absent where there is none. */
  verifiedOrigins?: readonly string[];
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

/** Offered by the projects service. Unknown ids and hashes answer null. */
export interface ProjectDirectory {
  findProject(id: string): Promise<ProjectSnapshot | null>;
  /** @param keyHash SHA-256 of the secret key, base64url. */
  findKey(keyHash: string): Promise<KeySnapshot | null>;
}

/** Offered by the projects service. */
export interface KeyDirectory {
  /** False once the secret key was revoked, or its time is over. */
  isLive(projectNumber: number, keyId: string): Promise<boolean>;
}

/** A call that a budget of its project has refused. */
export interface BudgetRefusal {
  projectId: string;
  projectNumber: number;
  kind: BudgetKind;
  /** Network address of the caller. */
  address: string;
  /** Method and path. */
  route: string;
}

/** Which of a project's sums the counters have to know. */
export interface ProjectUseAsking {
  projectNumber: number;
  /** Days (`2026-11-27`) and months (`2026-11`), UTC; at most 4. */
  periods: readonly string[];
}

/** Offered by the projects service. */
export interface CreditDirectory {
  /**
   * Puts an owner's balance from the ledger into the counters, and what a project has used; makes the
   * month's grant where due.
   */
  loadOwner(ownerId: string, project?: ProjectUseAsking): Promise<void>;
  /** Has the owner told, once a day and kind. */
  noteRefusal(ownerId: string, refusal: BudgetRefusal): Promise<void>;
}

export interface Jwks {
  keys: {
    kid: string;
    kty: string;
    crv?: string;
    x?: string;
    y?: string;
    alg?: string;
    use?: string;
  }[];
}

/** What a user is and belongs to in the project. */
export interface RoleAndGroups {
  role: string;
  /** At most 100. */
  groups: readonly { id: string; role: string }[];
}

/** Of the user whose live session it is. */
export interface SessionSnapshot extends RoleAndGroups {
  /** Whether they have shown that their address is theirs; absent from answers of older versions. */
  emailVerified?: boolean;
}

/** Offered by the auth service. */
export interface SessionDirectory {
  /** Null once the session has ended. */
  findSession(projectNumber: number, sessionId: string): Promise<SessionSnapshot | null>;
  jwks(): Promise<Jwks>;
}

export interface AccountSnapshot {
  email: string;
  name: string | null;
  /** Whether the account has shown that the address is its own. */
  emailVerified: boolean;
}

/** Offered by the auth service. */
export interface AccountDirectory {
  /** Which of these addresses, as accounts spell them, are verified ones of the project's users; at most 100. */
  registered(projectNumber: number, emails: readonly string[]): Promise<string[]>;
  findAccount(projectNumber: number, userId: string): Promise<AccountSnapshot | null>;
}

/** Offered by the auth service. */
export interface UserDirectory {
  /** Null where the project has no such user. */
  findRoleAndGroups(projectNumber: number, userId: string): Promise<RoleAndGroups | null>;
  /** Who has shown that this address, as accounts spell it, is theirs; null where nobody has. */
  findHolder(projectNumber: number, email: string): Promise<string | null>;
}

/** Offered by the projects service. */
export interface OwnerDirectory {
  /** Whether the owner counts as verified: all do where BACKLOT_OWNER_VERIFICATION is off. */
  isVerified(ownerId: string): Promise<boolean>;
}

/** Offered by the records service. */
export interface ShapeDirectory {
  /**
   * The collections of a project, with their fields.
   * @param asking `ip`: the address for which it is asked, as it stands in an identity
   */
  describe(asking: {
    project: { id: string; number: number; ownerId: string | null };
    ip: string;
  }): Promise<CollectionShape[]>;
}

/** Who wants to see a file, as they stand in an identity. */
export interface FileReader {
  project: { id: string; number: number; ownerId: string | null };
  caller: Caller;
  userId: string | null;
  groups?: readonly { id: string; role: string }[];
  ip: string;
}

export interface ImageAsking extends FileReader {
  fileId: string;
}

/** JPEG in base64. */
export type ImageAnswer = { data: string } | { refused: { code: ErrorCode; message: string } };

/** Offered by the storage service. */
export interface ImageDirectory {
  /** An image of at most 1,024 by 1,024 pixels, made smaller where it has more. */
  readImage(asking: ImageAsking): Promise<ImageAnswer>;
}

export interface FilesAsking extends FileReader {
  /** At most 100. */
  fileIds: readonly string[];
}

export interface FileDescription {
  id: string;
  name: string;
  /** Media type. */
  type: string;
  /** Bytes. */
  size: number;
}

/** Offered by the storage service. */
export interface FileDirectory {
  /** Those that this caller may read, in the order asked for; others are left out. */
  describeFiles(asking: FilesAsking): Promise<FileDescription[]>;
  /** A file of at most 10 MiB, whoever may read it: who asks has let them. Null where it is gone. */
  readFile(projectNumber: number, fileId: string): Promise<Uint8Array | null>;
}

/** Whom one can ask, and which service answers. */
export interface Directories {
  projects: ProjectDirectory;
  keys: KeyDirectory;
  credits: CreditDirectory;
  owners: OwnerDirectory;
  accounts: AccountDirectory;
  sessions: SessionDirectory;
  users: UserDirectory;
  shapes: ShapeDirectory;
  images: ImageDirectory;
  files: FileDirectory;
}
export type DirectoryName = keyof Directories;

export const directoryServices = {
  projects: 'projects',
  keys: 'projects',
  credits: 'projects',
  owners: 'projects',
  accounts: 'auth',
  sessions: 'auth',
  users: 'auth',
  shapes: 'records',
  images: 'storage',
  files: 'storage',
} as const satisfies Record<DirectoryName, ServiceName>;

/** The built-in project whose users are the owners. */
export const platformProject = { id: 'platform', number: 1 } as const;

/** docs/api.md, "Limits and credits": calls a minute. */
export const defaultLimits: ClassLimits = {
  read: { perCaller: 1200, perProject: 12_000 },
  write: { perCaller: 600, perProject: 6000 },
  ai: { perCaller: 60, perProject: 600 },
  upload: { perCaller: 60, perProject: 600 },
  email: { perCaller: 20, perProject: 200 },
  payments: { perCaller: 30, perProject: 300 },
};
