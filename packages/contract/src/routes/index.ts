import type { RouteDefinition } from '../define-route.ts';
import * as aiRoutes from './ai/index.ts';
import * as auditRoutes from './audit.ts';
import * as authRoutes from './auth/index.ts';
import * as creditRoutes from './credits.ts';
import * as emailRoutes from './email/index.ts';
import * as groupRoutes from './groups/index.ts';
import * as healthRoutes from './health.ts';
import * as mcpRoutes from './mcp.ts';
import * as oauthRoutes from './oauth/index.ts';
import * as operatorRoutes from './operators/index.ts';
import * as originRoutes from './origins.ts';
import * as paymentRoutes from './payments/index.ts';
import * as onPaidRoutes from './payments/on-paid.ts';
import * as productRoutes from './payments/products.ts';
import * as platformUsageRoutes from './platform-usage.ts';
import * as projectRoutes from './projects/index.ts';
import * as historyRoutes from './records/history.ts';
import * as recordRoutes from './records/index.ts';
import * as reportRoutes from './records/reports.ts';
import * as schemaRoutes from './records/schemas.ts';
import * as shapeRoutes from './records/shape.ts';
import * as shareRoutes from './records/shares.ts';
import * as undoRoutes from './records/undo.ts';
import * as requestRoutes from './requests.ts';
import * as storageRoutes from './storage/index.ts';
import * as suspensionRoutes from './suspensions.ts';
import * as webhookRoutes from './webhooks.ts';

/** Each path group with its schemas. A new one is an import and an entry here. */
export {
  aiRoutes,
  auditRoutes,
  authRoutes,
  creditRoutes,
  emailRoutes,
  groupRoutes,
  healthRoutes,
  historyRoutes,
  mcpRoutes,
  oauthRoutes,
  onPaidRoutes,
  operatorRoutes,
  originRoutes,
  paymentRoutes,
  platformUsageRoutes,
  productRoutes,
  projectRoutes,
  recordRoutes,
  reportRoutes,
  requestRoutes,
  schemaRoutes,
  shapeRoutes,
  shareRoutes,
  storageRoutes,
  suspensionRoutes,
  undoRoutes,
  webhookRoutes,
};

const isRoute = (value: unknown): value is RouteDefinition =>
  typeof value === 'object' && value !== null && 'path' in value;

/** Every endpoint of the platform. */
export const routes: readonly RouteDefinition[] = [
  authRoutes,
  oauthRoutes,
  groupRoutes,
  projectRoutes,
  mcpRoutes,
  originRoutes,
  webhookRoutes,
  creditRoutes,
  healthRoutes,
  platformUsageRoutes,
  requestRoutes,
  auditRoutes,
  suspensionRoutes,
  recordRoutes,
  reportRoutes,
  shareRoutes,
  shapeRoutes,
  schemaRoutes,
  historyRoutes,
  undoRoutes,
  aiRoutes,
  storageRoutes,
  emailRoutes,
  paymentRoutes,
  productRoutes,
  onPaidRoutes,
  operatorRoutes,
].flatMap((group) => Object.values(group).filter(isRoute));
