import { readAlerts, readExpressions, selectorsIn } from '@backlot/testing/promql';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { readCompose } from './testing/compose.ts';
import { fromRoot, readText } from './testing/files.ts';

const toAnchor = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const anchorsIn = (markdown: string) =>
  [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => toAnchor(heading));

describe('ops/', () => {
  it('each alert says how bad it is, what is so, and has a runbook that exists', async () => {
    const alerts = await readAlerts();
    const names = alerts.map(({ alert }) => alert);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThan(10);
    for (const { alert, labels, annotations } of alerts) {
      const [file = '', anchor = ''] = annotations.runbook.split('#');
      expect([alert, ['page', 'ticket'].includes(labels.severity)]).toEqual([alert, true]);
      expect(annotations.summary).not.toBe('');
      expect([alert, anchorsIn(await readText(fromRoot(file)))]).toEqual([
        alert,
        expect.arrayContaining([anchor]),
      ]);
    }
  });

  it('each section of the runbooks is one that an alert names', async () => {
    const alerts = await readAlerts();
    const named = new Set(alerts.map(({ annotations }) => annotations.runbook.split('#')[1]));
    const [, ...sections] = anchorsIn(await readText(fromRoot('docs/runbooks.md')));
    expect(sections.filter((anchor) => !named.has(anchor))).toEqual([]);
  });

  it('each expression is PromQL and reads series by name', async () => {
    const expressions = await readExpressions();
    expect(expressions.length).toBeGreaterThan(40);
    for (const { where, text } of expressions) {
      const names = selectorsIn(text).map(({ name }) => name);
      expect([where, names.length > 0 && !names.includes('')]).toEqual([where, true]);
    }
  });

  it.each(['sum by (class (up)', 'rate(up[5m]', 'up{job=backlot}', 'up >'])(
    'what is no PromQL is found: %s',
    (text) => {
      expect(() => selectorsIn(text)).toThrow(text);
    },
  );

  it('Prometheus scrapes every process of docker compose that measures', async () => {
    const { services } = await readCompose();
    const measuring = Object.entries(services)
      .filter(([, { environment }]) => environment?.BACKLOT_METRICS_PORT !== undefined)
      .map(([name, { environment }]) => `${name}:${environment?.BACKLOT_METRICS_PORT}`);
    const text = await readText(fromRoot('ops/prometheus/prometheus.yml'));
    const [job] = parse(text).scrape_configs;
    expect([...job.static_configs[0].targets].sort()).toEqual(measuring.sort());
    expect(measuring.length).toBeGreaterThan(8);
  });

  it('the dashboard asks the data source that is provisioned', async () => {
    const source = parse(
      await readText(fromRoot('ops/grafana/provisioning/datasources/prometheus.yml')),
    );
    const { panels } = JSON.parse(await readText(fromRoot('ops/grafana/dashboards/backlot.json')));
    const asked = panels.flatMap(({ datasource }: { datasource?: { uid: string } }) =>
      datasource ? [datasource.uid] : [],
    );
    expect(new Set(asked)).toEqual(new Set([source.datasources[0].uid]));
  });
});
