import type { RouteDefinition } from '../define-route.ts';
import * as agentRoutes from './agents.ts';
import * as aiRoutes from './ai/ai.ts';
import * as authRoutes from './auth.ts';
import * as creditRoutes from './credits.ts';
import * as emailRoutes from './email.ts';
import * as groupRoutes from './groups.ts';
import * as originRoutes from './origins.ts';
import * as onPaidRoutes from './payments/on-paid.ts';
import * as paymentRoutes from './payments/payments.ts';
import * as productRoutes from './payments/products.ts';
import * as projectRoutes from './projects.ts';
import * as recordRoutes from './records/index.ts';
import * as shapeRoutes from './records/shape.ts';
import * as shareRoutes from './records/shares.ts';
import * as storageRoutes from './storage.ts';

/** Each path group with its schemas. A new one is an import and an entry here. */
export {
  agentRoutes,
  aiRoutes,
  authRoutes,
  creditRoutes,
  emailRoutes,
  groupRoutes,
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
  agentRoutes,
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
