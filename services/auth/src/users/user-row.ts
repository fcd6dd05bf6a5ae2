import { ApiError, type ListedUser, type RoleAndGroups, type User } from '@backlot/contract';
import type { TextRow } from '@backlot/database';
import { type ExpressionBuilder, type Selectable, sql } from 'kysely';
import type { JsonObject, DB as Tables, User as UserTable } from '../tables.ts';

export const listedColumns = [
  'id',
  'email',
  'name',
  'avatar',
  'role',
  'email_verified',
  'is_guest',
  'created_at',
  'updated_at',
  'blocked_at',
  'blocked_until',
  'block_reason',
] as const;
export const userColumns = [...listedColumns, 'profile', 'public_profile'] as const;

export type ListedRow = Pick<Selectable<UserTable>, (typeof listedColumns)[number]>;
/** What the columns hold of their types. */
export interface UserValues {
  profile: JsonObject;
  public_profile: JsonObject;
}
export type UserRow = ListedRow & UserValues;

/** What signing in needs to know of a user. */
export interface Account extends ListedRow, UserValues {
  /** Null: no password opens it. */
  password_hash: string | null;
  password_version: number;
  /** Whether sign-ins ask for a code of an authenticator app. */
  has_totp: boolean;
  has_passkey: boolean;
  /** Whether this account has signed in from the asking IP address before. */
  ip_known: boolean;
}

/** @throws ApiError forbidden for a guest */
export const requireAddress = ({ email }: Pick<ListedRow, 'email'>): string => {
  if (email !== null) return email;
  throw new ApiError('forbidden', 'A guest has neither an address nor a password.', {
    hint: 'POST /auth/signup {"email":"...","password":"..."} with the token of the guest makes a user of the guest, who keeps all that is theirs.',
  });
};

type BlockRow = Pick<ListedRow, 'blocked_at' | 'blocked_until' | 'block_reason'>;

/** Undefined where it is over, too. */
export const presentBlock = (row: BlockRow, nowMs: number): ListedUser['blocked'] => {
  const { blocked_at: since, blocked_until: until, block_reason: reason } = row;
  if (since === null || (until !== null && until.getTime() <= nowMs)) return undefined;
  return { reason, until: until?.toISOString() ?? null };
};

/** A condition on `users`. */
export const isBlocked =
  (nowMs: number) =>
  ({ eb, and, or }: ExpressionBuilder<Tables, 'users'>) =>
    and([
      eb('blocked_at', 'is not', null),
      or([eb('blocked_until', 'is', null), eb('blocked_until', '>', new Date(nowMs))]),
    ]);

const hasTotp = `EXISTS (SELECT FROM factors f
  WHERE f.project_number = users.project_number AND f.user_id = users.id AND f.expires_at IS NULL)`;
const hasPasskey = `EXISTS (SELECT FROM passkeys p
  WHERE p.project_number = users.project_number AND p.user_id = users.id)`;

/** The columns of an account without `ip_known`, of the table `users`. */
export const accountSql = `${userColumns.join(', ')}, password_hash, password_version,
  ${hasTotp} AS has_totp, ${hasPasskey} AS has_passkey`;

/** Without the address from which they are asked for. */
export const accountColumns = [
  ...userColumns,
  'password_hash',
  'password_version',
  sql.raw<boolean>(hasTotp).as('has_totp'),
  sql.raw<boolean>(hasPasskey).as('has_passkey'),
  sql<boolean>`false`.as('ip_known'),
] as const;

/** The columns `role`, `groups` and whether the address is verified, as texts, of a user `u`, whose project is the first parameter. */
export const roleAndGroupsSql = `u.role, (
  SELECT json_agg(json_build_object('id', m.group_id, 'role', m.role) ORDER BY m.group_id)
    FROM group_members m WHERE m.project_number = $1 AND m.user_id = u.id), u.email_verified::text`;

export const presentRoleAndGroups = ([role, groups, emailVerified]: TextRow): RoleAndGroups => ({
  role: String(role),
  groups: JSON.parse(groups ?? '[]'),
  emailVerified: emailVerified === 'true',
});

export const presentListed = (row: ListedRow, nowMs: number): ListedUser => {
  const blocked = presentBlock(row, nowMs);
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    avatar: row.avatar,
    role: row.role,
    emailVerified: row.email_verified,
    isGuest: row.is_guest,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    ...(blocked && { blocked }),
  };
};

export const presentUser = (row: UserRow, nowMs: number): User => ({
  ...presentListed(row, nowMs),
  profile: row.profile,
  publicProfile: row.public_profile,
});
