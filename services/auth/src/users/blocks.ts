import { ApiError, isUuid } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { requirePower } from '@backlot/http';
import { type Identity, powersOfRole } from '@backlot/identity';
import { unknownUser } from './refusals.ts';
import type { UserRow } from './user-row.ts';
import type { Block, Users } from './users.ts';

interface BlockFields {
  blocked?: boolean | undefined;
  reason?: string | undefined;
  until?: string | undefined;
}

interface ModerateFields extends BlockFields {
  role?: string | undefined;
}

/** @throws ApiError forbidden unless the caller may set roles, or block users */
const checkMay = (identity: Identity, { role }: ModerateFields) => {
  if (role !== undefined && identity.caller === 'user')
    throw new ApiError('forbidden', '"role": the owner of the app alone sets roles.');
  requirePower(identity, 'block-users', 'block users');
};

/** Who has powers is the owner's to block. @throws ApiError forbidden */
const checkMayBlock = ({ caller, userId, project }: Identity, { id, role }: UserRow) => {
  if (caller !== 'user') return;
  if (id === userId) throw new ApiError('forbidden', 'You can not block yourself.');
  if (powersOfRole(project, role).length === 0) return;
  throw new ApiError('forbidden', `The role "${role}" has powers of its own: the owner blocks it.`);
};

/** Who blocks whom. */
export const createBlocks = ({
  database,
  users,
  now,
}: {
  database: Database;
  users: Users;
  now: () => number;
}) => {
  /** Undefined where the fields say nothing, null where they end a block. @throws ApiError invalid_body */
  const read = ({ blocked, reason, until }: BlockFields): Block | null | undefined => {
    if (blocked !== true) {
      const [field] =
        Object.entries({ reason, until }).find(([, value]) => value !== undefined) ?? [];
      if (field !== undefined)
        throw new ApiError('invalid_body', `"${field}": goes with "blocked": true.`);
      return blocked === false ? null : undefined;
    }
    const end = until === undefined ? null : new Date(until);
    if (end !== null && end.getTime() <= now())
      throw new ApiError('invalid_body', '"until": must be a time to come.');
    return { reason: reason ?? null, until: end };
  };

  return {
    read,

    /** By a user with the power, or one of the project's own callers. @throws ApiError invalid_body, forbidden, not_found */
    moderate: (identity: Identity, id: string, fields: ModerateFields): Promise<UserRow> =>
      database.transaction(async () => {
        const block = read(fields);
        const { role } = fields;
        if (block === undefined && role === undefined)
          throw new ApiError('invalid_body', 'Send "blocked", or a "role".');
        checkMay(identity, fields);
        const { number } = identity.project;
        const account = isUuid(id) ? await users.lock(number, id) : undefined;
        if (!account) throw unknownUser();
        if (block !== undefined) checkMayBlock(identity, account);
        return users.update(number, id, { role, block });
      }),
  };
};

export type Blocks = ReturnType<typeof createBlocks>;
