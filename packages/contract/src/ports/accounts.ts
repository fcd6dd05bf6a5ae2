import type { Caller } from '../define-route.ts';
import type { Person } from '../routes/groups/people.ts';

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
  /** Whether they have shown that their address is theirs; absent from answers of older versions. */
  emailVerified?: boolean;
}

/** Of a user, whoever calls. */
export interface KnownUser extends RoleAndGroups {
  /** Writes nothing now, and reads what anyone reads; absent from answers of older versions. */
  isBlocked?: boolean;
}

/** Of the user whose live session it is. */
export interface SessionSnapshot extends RoleAndGroups {
  /** Has no account: budgets take them for a visitor. */
  isGuest?: true;
  /** Who writes nothing, and why; `until` in epoch milliseconds, null for good. Absent from who is not blocked. */
  blocked?: { reason: string | null; until: number | null };
  /** It began with two factors, or has shown the second since; absent from others. */
  hasSecondFactor?: true;
}

/** Offered by the auth service. */
export interface SessionDirectory {
  /** Null once the session has ended. */
  findSession(projectNumber: number, sessionId: string): Promise<SessionSnapshot | null>;
  jwks(): Promise<Jwks>;
}

export interface AccountSnapshot {
  /** Null: a guest. */
  email: string | null;
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
  findRoleAndGroups(projectNumber: number, userId: string): Promise<KnownUser | null>;
  /** Who has shown that this address, as accounts spell it, is theirs; null where nobody has. */
  findHolder(projectNumber: number, email: string): Promise<string | null>;
}

/** Places of a page of records where a user may stand. */
export const mostPeopleAsked = 500;

export interface PeopleAsking {
  projectNumber: number;
  caller: Caller;
  userId: string | null;
  /** At most `mostPeopleAsked`. */
  ids: readonly string[];
  /** The project's setting `publicProfiles`. */
  hasPublicProfiles: boolean;
}

/** Offered by the auth service. */
export interface PeopleDirectory {
  /** Those of these users whom this caller may know of, in no order. */
  findPeople(asking: PeopleAsking): Promise<Person[]>;
}
