import type { User } from '@backlot/contract';
import { type Selectable, sql } from 'kysely';
import type { User as UserTable } from '../tables.ts';

export const userColumns = [
  ...(['id', 'email', 'name', 'avatar', 'role'] as const),
  ...(['email_verified', 'created_at', 'updated_at'] as const),
] as const;
export type UserRow = Pick<Selectable<UserTable>, (typeof userColumns)[number]>;

/** What signing in needs to know of a user. */
export interface Account extends UserRow {
  password_hash: string;
  password_version: number;
  /** Whether this account has signed in from the asking IP address before. */
  ip_known: boolean;
}

/** Without the address from which they are asked for. */
export const accountColumns = [
  ...userColumns,
  ...(['password_hash', 'password_version'] as const),
  sql<boolean>`false`.as('ip_known'),
] as const;

export const presentUser = (row: UserRow): User => ({
  id: row.id,
  email: row.email,
  name: row.name,
  avatar: row.avatar,
  role: row.role,
  emailVerified: row.email_verified,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

/** As sign-up stores it. What can't be an address (PostgreSQL refuses NUL) becomes '', which nobody has. */
export const normalizeEmail = (email: string): string =>
  email.includes('\0') ? '' : email.trim().toLowerCase();
