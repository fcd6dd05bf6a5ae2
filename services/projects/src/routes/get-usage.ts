import { creditRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { UsageReports } from '../ledger/usage-report.ts';
import { scopeOf } from '../scope.ts';

export const getUsage = (usage: UsageReports) =>
  route(creditRoutes.getUsage, async ({ params, query, identity }) => ({
    body: await usage.of(scopeOf(identity, params.projectId), query),
  }));
