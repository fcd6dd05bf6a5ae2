import { until } from '@backlot/testing';
import type { Shop, StackUnderTest } from './stack-under-test.ts';

/** A limit of the other class, by which a gateway shows that it has heard of the change. */
const mark = 4321;

/** Reads a minute in the project; resolves when every gateway goes by it, and none is counted yet. */
export const limitReads = async (
  stack: StackUnderTest,
  { id }: Shop,
  perProject: number,
): Promise<void> => {
  await stack.control('PUT', `/projects/${id}/limits`, {
    token: stack.operatorToken,
    body: { read: { perProject }, write: { perProject: mark } },
  });
  for (const gateway of stack.gateways.keys()) {
    const hasHeard = async () => {
      const { headers } = await stack.runtime(gateway, id)('POST', '/db/notes', { body: {} });
      return headers.get('ratelimit-policy')?.includes(`q=${mark}`);
    };
    await until(hasHeard, { what: `the limits on gateway ${gateway}` });
  }
};
