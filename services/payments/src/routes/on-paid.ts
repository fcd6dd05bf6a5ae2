import { onPaidRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { OnPaidRules } from '../on-paid/rules.ts';

export const setOnPaidRule = (rules: OnPaidRules) =>
  route(onPaidRoutes.setOnPaidRule, async ({ identity, params, body }) => ({
    body: await rules.set(identity.project.number, params.name, body),
  }));

export const listOnPaidRules = (rules: OnPaidRules) =>
  route(onPaidRoutes.listOnPaidRules, async ({ identity }) => {
    const items = await rules.list(identity.project.number);
    return { body: { items, hasMore: false, nextCursor: null } };
  });

export const deleteOnPaidRule = (rules: OnPaidRules) =>
  route(onPaidRoutes.deleteOnPaidRule, async ({ identity, params }) => {
    await rules.delete(identity.project.number, params.name);
    return { body: { ok: true as const } };
  });
