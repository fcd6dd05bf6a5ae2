import { ApiError, auditRoutes } from '@backlot/contract';
import { LargeJson, type MountedRoute, route } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import type { Audit } from '../audit/audit.ts';
import { exportActs, fileTypes } from '../audit/export-acts.ts';
import type { Reader } from '../audit/list-acts.ts';

/** Whose lines the caller sees. @throws ApiError forbidden where an owner asks for another's */
const toReader = ({ caller, userId }: Identity, wanted?: string): Reader => {
  if (caller === 'operator') return null;
  if (userId === null) throw new ApiError('unauthenticated', 'Sign in as an owner first.');
  if (wanted !== undefined && wanted.toLowerCase() !== userId)
    throw new ApiError('forbidden', 'You can only see what was done in your own projects.');
  return { ownerId: userId };
};

/** The audit log. */
export const routesForAudit = (audit: Audit): MountedRoute[] => [
  route(auditRoutes.listAudit, async ({ query, identity }) => ({
    body: await audit.list(toReader(identity, query.ownerId), query),
  })),
  route(auditRoutes.exportAudit, async ({ query: { format, ...filter }, identity }) => ({
    headers: {
      'Content-Type': fileTypes[format],
      'Content-Disposition': `attachment; filename="audit.${format}"`,
      'Cache-Control': 'no-store',
    },
    body: new LargeJson(exportActs(audit, toReader(identity, filter.ownerId), filter, format)),
  })),
  route(auditRoutes.getAuditVerification, async ({ identity }) => ({
    body: await audit.lastVerification(toReader(identity)),
  })),
];
