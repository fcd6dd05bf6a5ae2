import type { User } from '@backlot/contract';

export interface UserRow {
  id: string;
  email: string;
  name: string | null;
  role: string;
  email_verified: boolean;
  created_at: Date;
  updated_at: Date;
}

/** What signing in needs to know of a user. */
export interface Account extends UserRow {
  password_hash: string;
  password_version: number;
  /** Whether this account has signed in from the asking IP address before. */
  ip_known: boolean;
}

/** Columns of UserRow. */
export const userColumns = 'id, email, name, role, email_verified, created_at, updated_at';
export const accountColumns = `${userColumns}, password_hash, password_version, false AS ip_known`;

export const presentUser = (row: UserRow): User => ({
  id: row.id,
  email: row.email,
  name: row.name,
  role: row.role,
  emailVerified: row.email_verified,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

/** As sign-up stores it. What can't be an address (PostgreSQL refuses NUL) becomes '', which nobody has. */
export const normalizeEmail = (email: string): string =>
  email.includes('\0') ? '' : email.trim().toLowerCase();
