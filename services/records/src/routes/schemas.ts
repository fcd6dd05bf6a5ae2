import { schemaRoutes } from '@backlot/contract';
import type { FairShares } from '@backlot/fair-shares';
import { route } from '@backlot/http';
import type { SchemaReports } from '../reports/schema-reports.ts';
import type { Shapes } from '../shape/shapes.ts';
import { inTurn } from './turns.ts';

export const getSchemaReport = (reports: SchemaReports, reads: FairShares) =>
  route(
    schemaRoutes.getSchemaReport,
    async ({ params, query, identity }) => ({
      body: await reports.read(identity.project, params.collection, {
        isRenewed: query.renew === '1' || query.renew === 'true',
      }),
    }),
    inTurn(reads),
  );

export const proposeSchema = (shapes: Shapes) =>
  route(schemaRoutes.proposeSchema, async ({ params, identity: { project, ip }, signal }) => ({
    body: await shapes.proposeOne({ project, ip, signal }, params.collection),
  }));
