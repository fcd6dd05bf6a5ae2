import type { RouteDefinition } from '../define-route.ts';
import * as aiRoutes from './ai/index.ts';
import * as authRoutes from './auth/index.ts';
import * as creditRoutes from './credits.ts';
import * as emailRoutes from './email/index.ts';
import * as groupRoutes from './groups/index.ts';
import * as mcpRoutes from './mcp.ts';
import * as originRoutes from './origins.ts';
import * as paymentRoutes from './payments/index.ts';
import * as onPaidRoutes from './payments/on-paid.ts';
import * as productRoutes from './payments/products.ts';
import * as projectRoutes from './projects/index.ts';
import * as recordRoutes from './records/index.ts';
import * as shapeRoutes from './records/shape.ts';
import * as shareRoutes from './records/shares.ts';
import * as storageRoutes from './storage/index.ts';

/** Each path group with its schemas. A new one is an import and an entry here. */
export {
  aiRoutes,
  authRoutes,
  creditRoutes,
  emailRoutes,
  groupRoutes,
  mcpRoutes,
  onPaidRoutes,
  originRoutes,
  paymentRoutes,
  productRoutes,
  projectRoutes,
  recordRoutes,
  shapeRoutes,
  shareRoutes,
  storageRoutes,
};

const isRoute = (value: unknown): value is RouteDefinition =>
  typeof value === 'object' && value !== null && 'path' in value;

/** Every endpoint of the platform. */
export const routes: readonly RouteDefinition[] = [
  authRoutes,
  groupRoutes,
  projectRoutes,
  mcpRoutes,
  originRoutes,
  creditRoutes,
  recordRoutes,
  shareRoutes,
  shapeRoutes,
  aiRoutes,
  storageRoutes,
  emailRoutes,
  paymentRoutes,
  productRoutes,
  onPaidRoutes,
].flatMap((group) => Object.values(group).filter(isRoute));
