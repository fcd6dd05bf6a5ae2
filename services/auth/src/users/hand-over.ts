import type { Database } from '@backlot/database';

/**
 * Ends what a member has mailed and may offer no more. Belongs into the transaction that changes what they
 * are in the group, which has locked it.
 */
export const endInvites = async (
  database: Database,
  project: number,
  { groupId, userId, role }: { groupId: string; userId: string; role: string | undefined },
): Promise<void> => {
  if (role === 'owner') return;
  await database.query(
    `DELETE FROM group_invites WHERE project_number = $1 AND group_id = $2 AND invited_by = $3
        AND (role = 'owner' OR $4 <> 'admin')`,
    [project, groupId, userId, role ?? ''],
  );
};

/**
 * Takes a user out of their groups, with their invitations. One that had no other owner gets its oldest admin, else its oldest
 * member; one without members goes. Belongs into a transaction that has locked the user.
 * @returns the new owners
 */
export const leaveAllGroups = async (
  database: Database,
  project: number,
  userId: string,
): Promise<string[]> => {
  const left = await database.query<{ id: string }>(
    `SELECT id FROM groups WHERE project_number = $1 AND id IN (
       SELECT group_id FROM group_members WHERE project_number = $1 AND user_id = $2)
     ORDER BY id FOR NO KEY UPDATE`,
    [project, userId],
  );
  if (left.length === 0) return [];
  const values = [project, left.map(({ id }) => id)];
  for (const [table, column] of [
    ['group_members', 'user_id'],
    ['group_invites', 'invited_by'],
  ] as const)
    await database.query(`DELETE FROM ${table} WHERE project_number = $1 AND ${column} = $2`, [
      project,
      userId,
    ]);
  await database.query(
    `DELETE FROM groups g WHERE g.project_number = $1 AND g.id = ANY ($2::uuid[]) AND NOT EXISTS (
       SELECT FROM group_members m WHERE m.project_number = $1 AND m.group_id = g.id)`,
    values,
  );
  const owners = await database.query<{ id: string }>(
    `UPDATE group_members m SET role = 'owner' FROM (
       SELECT DISTINCT ON (c.group_id) c.group_id, c.user_id FROM group_members c
        WHERE c.project_number = $1 AND c.group_id = ANY ($2::uuid[]) AND NOT EXISTS (
          SELECT FROM group_members o WHERE o.project_number = $1 AND o.group_id = c.group_id AND o.role = 'owner')
        ORDER BY c.group_id, c.role = 'admin' DESC, c.joined_at, c.user_id) next
      WHERE m.project_number = $1 AND m.group_id = next.group_id AND m.user_id = next.user_id
     RETURNING m.user_id AS id`,
    values,
  );
  return [...new Set(owners.map(({ id }) => id))];
};

const rankSql = (role: string) => `CASE ${role} WHEN 'owner' THEN 2 WHEN 'admin' THEN 1 ELSE 0 END`;

/**
 * Gives a user the groups of another one, with the invitations; who is in one already gets the higher role. Belongs
 * into a transaction that has locked both.
 * @returns whether there were any
 */
export const moveGroups = async (
  database: Database,
  project: number,
  from: string,
  to: string,
): Promise<boolean> => {
  const locked = await database.query(
    `SELECT id FROM groups WHERE project_number = $1 AND id IN (
       SELECT group_id FROM group_members WHERE project_number = $1 AND user_id = $2)
     ORDER BY id FOR NO KEY UPDATE`,
    [project, from],
  );
  if (locked.length === 0) return false;
  const both = `kept.project_number = $1 AND moved.project_number = $1 AND kept.group_id = moved.group_id
    AND moved.user_id = $2 AND kept.user_id = $3`;
  for (const statement of [
    `UPDATE group_members kept SET role = moved.role FROM group_members moved
      WHERE ${both} AND ${rankSql('moved.role')} > ${rankSql('kept.role')}`,
    `DELETE FROM group_members moved USING group_members kept WHERE ${both}`,
    'UPDATE group_members SET user_id = $3 WHERE project_number = $1 AND user_id = $2',
    'UPDATE group_invites SET invited_by = $3 WHERE project_number = $1 AND invited_by = $2',
  ])
    await database.query(statement, [project, from, to]);
  return true;
};
