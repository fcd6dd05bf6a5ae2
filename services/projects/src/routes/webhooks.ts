import { webhookRoutes } from '@backlot/contract';
import { type MountedRoute, route } from '@backlot/http';
import { toScope } from '../projects/scope.ts';
import type { Log } from '../webhooks/log.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';

/** Where owners have what happens in their apps sent. */
export const routesForWebhooks = (
  webhooks: Webhooks,
  log: Log,
  onReplay: () => void,
): MountedRoute[] => [
  route(
    webhookRoutes.setWebhook,
    async ({ params, body, identity }) => {
      await webhooks.checkWhere(body);
      return {
        transact: async () => {
          const set = await webhooks.set(toScope(identity), params.name, body);
          return { body: set, ...(set.secret !== undefined && { status: 201 as const }) };
        },
      };
    },
    { isSlow: true },
  ),
  route(webhookRoutes.listWebhooks, async ({ identity }) => ({
    body: { items: await webhooks.list(toScope(identity)), hasMore: false, nextCursor: null },
  })),
  route(webhookRoutes.getWebhook, async ({ params, identity }) => ({
    body: await webhooks.get(toScope(identity), params.name),
  })),
  route(webhookRoutes.deleteWebhook, async ({ params, identity }) => {
    await webhooks.remove(toScope(identity), params.name);
    return { body: { ok: true as const } };
  }),
  route(webhookRoutes.renewWebhookSecret, async ({ params, identity }) => ({
    body: { secret: await webhooks.renewSecret(toScope(identity), params.name) },
  })),
  route(webhookRoutes.listWebhookDeliveries, async ({ params, query, identity }) => ({
    body: await log.list(toScope(identity), params.name, query),
  })),
  route(webhookRoutes.replayWebhook, async ({ params, body, identity }) => {
    const queued = await log.replay(toScope(identity), params.name, body);
    onReplay();
    return { body: { queued } };
  }),
];
