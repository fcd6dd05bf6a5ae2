import type { RouteDefinition } from '../define-route.ts';
import * as aiRoutes from './ai.ts';
import * as authRoutes from './auth.ts';
import * as creditRoutes from './credits.ts';
import * as emailRoutes from './email.ts';
import * as groupRoutes from './groups.ts';
import * as onPaidRoutes from './on-paid.ts';
import * as originRoutes from './origins.ts';
import * as paymentRoutes from './payments.ts';
import * as productRoutes from './products.ts';
import * as projectRoutes from './projects.ts';
import * as recordRoutes from './records.ts';
import * as shapeRoutes from './shape.ts';
import * as shareRoutes from './shares.ts';
import * as storageRoutes from './storage.ts';

/** Each path group with its schemas. A new one is an import and an entry here. */
export {
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
