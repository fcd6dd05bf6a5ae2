import {
  type MemberRole,
  type ProjectSettings,
  platformProject,
  type Suspension,
} from '@backlot/contract';
import type { Selectable } from 'kysely';
import type { ProjectsConfig } from '../config.ts';
import type { Project as ProjectTable } from '../tables.ts';

export interface Project {
  id: string;
  name: string;
  /** What its owner's own software calls it. */
  externalId?: string;
  ownerId: string | null;
  status: 'active' | 'paused' | 'deleted';
  baseUrl: string;
  settings: ProjectSettings;
  createdAt: string;
  suspensions?: Suspension[];
  /** Of who asks, where it is an account. */
  role?: MemberRole;
  /** Of a preview: the id of its project. */
  previewOf?: string;
}

export const projectColumns = [
  'number',
  'id',
  'name',
  'external_id',
  'owner_id',
  'status',
  'paused_by',
  'settings',
  'suspensions',
  'created_at',
  'deleted_at',
  'preview_of',
] as const;
export type ProjectRow = Pick<Selectable<ProjectTable>, (typeof projectColumns)[number]>;

/** @returns what shows a row to an account that is `role` in it */
export const createPresentProject = ({ publicUrl, projectHostSuffix: suffix }: ProjectsConfig) => {
  /** At the port of the public address, which a proxy serves both names at. */
  const baseUrlOf = ({ id, number }: ProjectRow): string => {
    const { protocol, hostname, host } = new URL(publicUrl);
    return suffix === undefined || number === platformProject.number
      ? `${publicUrl}/api/runtime/${id}`
      : `${protocol}//${id}${suffix}${host.slice(hostname.length)}/api`;
  };

  return (row: ProjectRow, role?: MemberRole): Project => ({
    id: row.id,
    name: row.name,
    ...(row.external_id !== null && { externalId: row.external_id }),
    ownerId: row.owner_id,
    status: row.deleted_at ? 'deleted' : (row.status as 'active' | 'paused'),
    baseUrl: baseUrlOf(row),
    settings: row.settings as ProjectSettings,
    createdAt: row.created_at.toISOString(),
    ...((row.suspensions as unknown as Suspension[]).length > 0 && {
      suspensions: row.suspensions as unknown as Suspension[],
    }),
    ...(role && { role }),
    ...(row.preview_of !== null && { previewOf: row.preview_of }),
  });
};

export type PresentProject = ReturnType<typeof createPresentProject>;
