import { shapeRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Shapes } from '../shape/shapes.ts';

export const getProjectShape = (shapes: Shapes) =>
  route(shapeRoutes.getProjectShape, async ({ identity: { project, ip }, signal }) => ({
    body: { collections: await shapes.describe({ project, ip, signal }) },
  }));

export const getCollectionShape = (shapes: Shapes) =>
  route(shapeRoutes.getCollectionShape, async ({ params, identity: { project, ip }, signal }) => ({
    body: await shapes.describeOne({ project, ip, signal }, params.collection),
  }));
