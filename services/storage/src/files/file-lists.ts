import { isUuid, type StoredFile, type Visibility } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import { type PageQuery, type Position, presentPage, readPosition } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import type { DB as Tables } from '../tables.ts';
import { type FileRow, fileColumns } from './file-row.ts';
import type { Links } from './links.ts';

/** Listed by themselves. */
const maxTypes = 100;

export type FileLists = ReturnType<typeof createFileLists>;

export const createFileLists = (database: Database, links: Links) => {
  const queries = createQueries<Tables>(database);
  const present =
    ({ id: projectId, number: projectNumber }: Identity['project']) =>
    (row: FileRow): StoredFile => ({
      id: row.id,
      url: links.to({ projectId, projectNumber, fileId: row.id, name: row.name }),
      name: row.name,
      size: row.size_bytes,
      type: row.media_type,
      visibility: row.visibility as Visibility,
      ownerId: row.owner_id,
      groupId: row.group_id,
      recordId: row.record_id,
      createdAt: row.created_at.toISOString(),
    });

  const newest = ({ number }: Identity['project'], limit: number, after: Position | undefined) => {
    const files = queries
      .selectFrom('files')
      .select(fileColumns)
      .where('project_number', '=', number)
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit + 1);
    return after
      ? files.where(({ eb, refTuple, tuple }) =>
          eb(refTuple('created_at', 'id'), '<', tuple(after.createdAt, after.id)),
        )
      : files;
  };

  return {
    /** What the caller has uploaded, without that of groups which they have left. */
    async listOwn({ project, userId, groups = [] }: Identity, query: PageQuery) {
      const rows = await newest(project, query.limit, readPosition('my-files', query.cursor))
        .where('owner_id', '=', userId)
        .where(({ eb, or, fn, val }) =>
          or([
            eb('group_id', 'is', null),
            eb('visibility', '=', 'public'),
            eb('group_id', '=', fn.any(val(groups.map(({ id }) => id)))),
          ]),
        )
        .execute();
      return presentPage('my-files', query, rows, present(project));
    },

    /** Those of these ids that there are, newest first. */
    async listThese(project: Identity['project'], ids: readonly string[]): Promise<StoredFile[]> {
      const rows = await newest(project, ids.length, undefined)
        .where(({ eb, fn, val }) => eb('id', '=', fn.any(val(ids.filter(isUuid)))))
        .execute();
      return rows.map(present(project));
    },

    /** Of the project, or of a group or a user in it. */
    async listAll(
      project: Identity['project'],
      query: PageQuery & { group?: string | undefined; owner?: string | undefined },
    ) {
      const { group, owner } = query;
      const ofGroup = group === undefined ? 'files' : 'group-files';
      const name = owner === undefined ? ofGroup : `${ofGroup}-of-user`;
      let files = newest(project, query.limit, readPosition(name, query.cursor));
      if (group !== undefined) files = files.where('group_id', '=', group);
      if (owner !== undefined) files = files.where('owner_id', '=', owner);
      return presentPage(name, query, await files.execute(), present(project));
    },

    /** The types that take most, 100 at most; null stands for all others. */
    async types(projectNumber: number) {
      const rows = await database.query<{ type: string; files: number; bytes: number }>(
        `SELECT media_type AS type, count(*) AS files, sum(size_bytes)::int8 AS bytes
           FROM files WHERE project_number = $1 GROUP BY media_type ORDER BY bytes DESC, type`,
        [projectNumber],
      );
      const others = rows.splice(maxTypes);
      if (others.length === 0) return rows;
      const sum = (of: 'files' | 'bytes') => others.reduce((all, row) => all + row[of], 0);
      return [...rows, { type: null, files: sum('files'), bytes: sum('bytes') }];
    },
  };
};
