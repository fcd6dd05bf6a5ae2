import { until } from '@backlot/testing';
import { groupingsIn, readExpressions, type Selector, selectorsIn } from '@backlot/testing/promql';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ask } from '../ai-calls.ts';
import { untilDrained } from '../broker.ts';
import type { StackUnderTest } from '../stack-under-test.ts';

interface Series {
  name: string;
  labels: Record<string, string>;
}

/** Prometheus makes it. */
const made = new Set(['up']);
/** There only while somebody has work. */
const passing = new Set(['backlot_queue_owner_cost_seconds']);

const readSeries = (line: string): Series => {
  const [, name = '', text = ''] = /^([\w:]+)(?:\{(.*)\})? /.exec(line) ?? [];
  const pairs = text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g);
  return {
    name,
    labels: Object.fromEntries([...pairs].map(([, key = '', value = '']) => [key, value])),
  };
};

const scrape = async (url: string): Promise<string[]> => {
  const text = await (await fetch(url)).text();
  return text.split('\n').filter((line) => line !== '');
};

export const describeMetrics = (getStack: () => StackUnderTest) =>
  describe('the metrics', () => {
    let stack: StackUnderTest;
    beforeAll(() => {
      stack = getStack();
    });

    const scrapeAll = async () => (await Promise.all(stack.metrics.map(scrape))).flat();

    it('have every series that an alert or the dashboard reads, with its labels', async () => {
      const shop = await stack.newShop(10);
      const { runtime, gateways } = stack;
      expect((await ask(gateways[0], shop.id, 'Hello')).kind).toBe('served');
      const call = runtime(0, shop.id);
      await call('POST', '/db/notes', { token: shop.key, body: { data: { title: 'a' } } });
      await call('GET', '/db/notes', { token: shop.key });
      await untilDrained(stack);

      const lines = await scrapeAll();
      const series = lines.filter((line) => !line.startsWith('#')).map(readSeries);
      const declared = new Set(lines.flatMap((line) => /^# TYPE (\S+)/.exec(line)?.slice(1) ?? []));
      const isThere = ({ name, labels, equals }: Selector, groupings: string[]) =>
        made.has(name) ||
        (passing.has(name) && declared.has(name)) ||
        series.some(
          (one) =>
            one.name === name &&
            [...labels, ...groupings].every((label) => label in one.labels) &&
            Object.entries(equals).every(([label, value]) => one.labels[label] === value),
        );
      const missing = (await readExpressions()).flatMap(({ where, text }) =>
        selectorsIn(text)
          .filter((selector) => !isThere(selector, groupingsIn(text)))
          .map(({ name }) => `${where}: ${name}`),
      );
      expect(missing).toEqual([]);
    });

    it('count each call in the gateway and in its service, by class', async () => {
      const shop = await stack.newShop(1);
      await stack.runtime(0, shop.id)('GET', '/db/notes', { token: shop.key });
      const counts = async () => {
        const lines = await scrapeAll();
        return ['gateway', 'records'].every((service) =>
          lines.some(
            (line) =>
              line.startsWith('backlot_http_requests_total{operation="listRecords",class="read"') &&
              line.includes(`service="${service}"`),
          ),
        );
      };
      await until(counts, { what: 'a list counted in both' });
    });
  });
