import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { SyntaxNode } from '@lezer/common';
import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';

/** An expression of ops/, and where it stands. */
export interface Expression {
  where: string;
  text: string;
}

/** What an expression reads: series of this name with these labels. */
export interface Selector {
  name: string;
  /** Names of labels, of its matchers. */
  labels: string[];
  /** Labels that it must equal; others it matches by a pattern or not at all. */
  equals: Record<string, string>;
}

export interface Alert {
  alert: string;
  expr: string;
  for?: string;
  labels: { severity: string };
  annotations: { summary: string; runbook: string };
}

const readOps = (file: string) =>
  readFile(fileURLToPath(new URL(`../../../ops/${file}`, import.meta.url)), 'utf8');

export const readAlerts = async (): Promise<Alert[]> => {
  const rules = parse(await readOps('prometheus/rules.yml')) as { groups: { rules: Alert[] }[] };
  return rules.groups.flatMap((group) => group.rules);
};

interface Panel {
  title: string;
  targets?: { expr: string }[];
}

/** Grafana puts a time in place of it. */
const withInterval = (text: string) => text.replaceAll('$__rate_interval', '1m');

/** All expressions of the alerts and of the dashboard. */
export const readExpressions = async (): Promise<Expression[]> => {
  const alerts = await readAlerts();
  const { panels } = JSON.parse(await readOps('grafana/dashboards/backlot.json')) as {
    panels: Panel[];
  };
  return [
    ...alerts.map(({ alert, expr }) => ({ where: `alert ${alert}`, text: expr })),
    ...panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr }) => ({ where: `panel ${title}`, text: withInterval(expr) })),
    ),
  ];
};

const find = (root: SyntaxNode, name: string): SyntaxNode[] => {
  const found: SyntaxNode[] = [];
  root.cursor().iterate((node) => {
    if (node.name === name) found.push(node.node);
  });
  return found;
};

/** @throws Error where it is no PromQL */
export const selectorsIn = (text: string): Selector[] => {
  const root = parser.parse(text).topNode;
  const read = (node: SyntaxNode | null) => (node ? text.slice(node.from, node.to) : '');
  if (find(root, '⚠').length > 0) throw new Error(`This is no PromQL: ${text}`);
  return find(root, 'VectorSelector').map((selector) => {
    const matchers = find(selector, 'UnquotedLabelMatcher').map((matcher) => ({
      label: read(matcher.getChild('LabelName')),
      isEqual: read(matcher.getChild('MatchOp')) === '=',
      value: read(matcher.getChild('StringLiteral')).slice(1, -1),
    }));
    const equal = matchers.filter(({ isEqual }) => isEqual);
    return {
      name: read(selector.getChild('Identifier')),
      labels: matchers.map(({ label }) => label),
      equals: Object.fromEntries(equal.map(({ label, value }) => [label, value])),
    };
  });
};

/** Labels by which an expression groups what it reads. */
export const groupingsIn = (text: string): string[] => {
  const root = parser.parse(text).topNode;
  return find(root, 'GroupingLabels').flatMap((grouping) =>
    find(grouping, 'LabelName').map((node) => text.slice(node.from, node.to)),
  );
};
