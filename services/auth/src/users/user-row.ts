import type { ListedUser, RoleAndGroups, User } from '@backlot/contract';
import type { TextRow } from '@backlot/database';
import { type Selectable, sql } from 'kysely';
import type { JsonObject, User as UserTable } from '../tables.ts';

export const listedColumns = [
  ...(['id', 'email', 'name', 'avatar', 'role'] as const),
  ...(['email_verified', 'created_at', 'updated_at'] as const),
] as const;
export const userColumns = [...listedColumns, 'profile'] as const;

export type ListedRow = Pick<Selectable<UserTable>, (typeof listedColumns)[number]>;
/** What the columns hold of their types. */
export interface UserValues {
  profile: JsonObject;
}
export type UserRow = ListedRow & UserValues;

/** What signing in needs to know of a user. */
export interface Account extends ListedRow, UserValues {
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

/** The columns `role` and `groups` of a user `u`, whose project is the first parameter. */
export const roleAndGroupsSql = `u.role, (
  SELECT json_agg(json_build_object('id', m.group_id, 'role', m.role) ORDER BY m.group_id)
    FROM group_members m WHERE m.project_number = $1 AND m.user_id = u.id)`;

export const presentRoleAndGroups = ([role, groups]: TextRow): RoleAndGroups => ({
  role: String(role),
  groups: JSON.parse(groups ?? '[]'),
});

export const presentListed = (row: ListedRow): ListedUser => ({
  id: row.id,
  email: row.email,
  name: row.name,
  avatar: row.avatar,
  role: row.role,
  emailVerified: row.email_verified,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

export const presentUser = (row: UserRow): User => ({
  ...presentListed(row),
  profile: row.profile,
});
