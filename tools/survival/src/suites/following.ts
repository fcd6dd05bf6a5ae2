import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '@backlot/testing';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { readBooks } from '../ledger.ts';
import type { StackUnderTest } from '../stack-under-test.ts';

const prompt = 'the words that somebody entrusts to a model';

export const describeFollowing = (getStack: () => StackUnderTest) =>
  describe('one call', () => {
    let stack: StackUnderTest;
    let requestId: string;
    beforeAll(async () => {
      stack = getStack();
      stack.keepFromLogs(prompt);
      const shop = await stack.newShop(10);
      const answer = await fetch(`${stack.gateways[0]}/api/runtime/${shop.id}/ai`, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          Authorization: `Bearer ${shop.key}`,
          // Nobody outside decides what is traced.
          traceparent: '00-11111111111111111111111111111111-2222222222222222-01',
        },
        body: JSON.stringify({ messages: [{ role: 'user', content: prompt }] }),
      });
      expect(answer.status).toBe(200);
      requestId = answer.headers.get('x-request-id') ?? '';
      await until(async () => (await readBooks(stack, shop.owner)).debits.length === 1);
    });

    const processesThatName = async (id: string) => {
      const files = (await readdir(stack.logs)).filter((file) => file.endsWith('.log'));
      const named = await Promise.all(
        files.map(async (file) =>
          (await readFile(join(stack.logs, file), 'utf8')).includes(id) ? [file] : [],
        ),
      );
      return named.flat().sort();
    };

    it('is found by its id in the logs of the gateway, its service and who handles its events', async () => {
      expect(requestId).not.toBe('');
      await until(
        async () =>
          (await processesThatName(requestId)).join() === 'ai.log,gateway-1.log,projects.log',
        { what: 'the id in three logs' },
      );
    });

    it('is one trace through the gateway, its service, PostgreSQL, Redis, RabbitMQ and the consumer', async () => {
      const find = () => {
        const root = stack
          .spans()
          .find(
            ({ attributes }) =>
              JSON.stringify(attributes).includes(requestId) && JSON.stringify(attributes) !== '',
          );
        return stack.spans().filter(({ traceId }) => traceId === root?.traceId);
      };
      const steps = [
        'backlot-gateway gateway',
        'backlot-gateway redis ',
        'backlot-ai ai generateText',
        'backlot-ai postgresql ',
        'backlot-ai send usage.recorded',
        'backlot-projects handle usage.recorded',
        'backlot-projects postgresql ',
      ];
      const isThere = (step: string) =>
        find().some(({ service, name }) => `${service} ${name}`.startsWith(step));
      await until(() => steps.every(isThere), {
        what: `spans of ${steps.join(', ')}; there are ${[...new Set(find().map(({ service, name }) => `${service} ${name}`))].join(', ')}`,
      });
      const ids = new Set(find().map(({ spanId }) => spanId));
      const roots = find().filter(({ parentSpanId }) => !parentSpanId);
      expect(roots.map(({ name }) => name)).toEqual(['gateway']);
      const orphans = find().filter(({ parentSpanId }) => parentSpanId && !ids.has(parentSpanId));
      expect(orphans).toEqual([]);
      expect(JSON.stringify(find())).not.toContain('1111111111');
    });

    it('leaves no secret, address or body in any span', async () => {
      const text = JSON.stringify(stack.spans());
      expect(stack.spans().length).toBeGreaterThan(100);
      expect(stack.keptFromLogs().filter((secret) => text.includes(secret))).toEqual([]);
    });
  });
