import { operatorRoutes } from '@backlot/contract';
import { type MountedRoute, route } from '@backlot/http';
import { type OperatorTokens, readOperator } from '../operators/operator-tokens.ts';

/** Who operates the platform. */
export const routesForOperatorTokens = (tokens: OperatorTokens): MountedRoute[] => [
  route(operatorRoutes.getOperator, async ({ identity }) => ({ body: readOperator(identity) })),
  route(operatorRoutes.createOperatorToken, async ({ body, identity }) => ({
    body: await tokens.create(body, readOperator(identity).name),
  })),
  route(operatorRoutes.listOperatorTokens, async () => ({
    body: { items: await tokens.list(), hasMore: false, nextCursor: null },
  })),
  route(operatorRoutes.revokeOperatorToken, async ({ params }) => {
    await tokens.revoke(params.tokenId);
    return { body: { ok: true as const } };
  }),
];
