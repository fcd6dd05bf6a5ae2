import type { CallLogItem } from '@backlot/contract';
import { z } from 'zod';
import { defineTool, fits, type Tool, toQuery } from './tool.ts';

const maxErrors = 100;
const usualErrors = 20;

const dropLast = (items: readonly CallLogItem[]): CallLogItem[] => {
  const kept = [...items];
  while (kept.length > 0 && !fits(JSON.stringify({ items: kept }))) kept.pop();
  return kept;
};

const listErrors = defineTool({
  name: 'list_errors',
  title: 'List the last failing calls',
  description:
    'Calls of the app that failed, newest first: route, status, "code", "error", "hint" and the names of the body’s fields, no values. Look here first when the app does not work. An item of type "gap" says that calls are missing.',
  scope: 'read',
  isDestructive: false,
  input: z.strictObject({
    limit: z.int().min(1).max(maxErrors).default(usualErrors),
    since: z.iso.datetime().optional().describe('Such as 2026-11-27T14:05:00.000Z'),
    path: z.string().min(1).max(200).optional().describe('A part of the path: /db/orders'),
  }),
  async run({ since, ...rest }, { projectId, call }) {
    const query = {
      ...rest,
      status: 'failed',
      since: since === undefined ? undefined : new Date(since).toISOString(),
    };
    const path = `/api/platform/projects/${projectId}/requests${toQuery(query)}`;
    const { items, hasMore } = JSON.parse(await call('GET', path)) as {
      items: CallLogItem[];
      hasMore: boolean;
    };
    const shown = dropLast(items);
    return JSON.stringify({ items: shown, hasMore: hasMore || shown.length < items.length });
  },
});

export const callTools: readonly Tool[] = [listErrors];
