import { createHash } from 'node:crypto';
import {
  type ConfigChange,
  type ConfigEntries,
  type ConfigSection,
  type ConfigSectionName,
  type ProjectConfig,
  projectRoutes,
} from '@backlot/contract';

const sections: Readonly<Record<ConfigSectionName, ConfigSection>> = projectRoutes.configSections;

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]) =>
  a < b ? -1 : 1;

const sortKeys = (_key: string, value: unknown) =>
  isObject(value) ? Object.fromEntries(Object.entries(value).sort(byName)) : value;

/** The same text for equal values, whatever the order of their keys. */
const canonical = (value: unknown): string => JSON.stringify(value, sortKeys) ?? '';

const isSame = (a: unknown, b: unknown) => canonical(a) === canonical(b);

const inOrder = (list: readonly unknown[]) =>
  [...new Map(list.map((item) => [canonical(item), item]))].sort(byName).map(([, item]) => item);

/** Without what has its default anyway. */
const shorten = ({ defaults = {}, unordered = [] }: ConfigSection, entry: unknown): unknown => {
  if (!isObject(entry)) return entry;
  const fields = Object.entries(entry).map(([name, value]): [string, unknown] => [
    name,
    unordered.includes(name) && Array.isArray(value) ? inOrder(value) : value,
  ]);
  const said = fields.filter(
    ([name, value]) => !(Object.hasOwn(defaults, name) && isSame(value, defaults[name])),
  );
  return Object.fromEntries(said);
};

const shortenAll = (section: ConfigSection, entries: ConfigEntries): ConfigEntries =>
  Object.fromEntries(
    Object.entries(entries)
      .filter(([, entry]) => entry !== undefined)
      .sort(byName)
      .map(([name, entry]) => [name, shorten(section, entry)]),
  );

/** The shortest way to say it, in one order. */
export const normalize = (config: ProjectConfig): ProjectConfig =>
  Object.fromEntries(
    projectRoutes.configSectionNames.flatMap((name) => {
      const entries = config[name];
      return entries ? [[name, shortenAll(sections[name], entries)]] : [];
    }),
  );

/** @param config normalized */
export const etagFor = (config: ProjectConfig): string =>
  `"${createHash('sha256').update(canonical(config)).digest('base64url')}"`;

/** What makes `current` as `wanted` says; sections that it leaves out stay. @param current normalized, as `wanted` */
export const findChanges = (current: ProjectConfig, wanted: ProjectConfig): ConfigChange[] =>
  projectRoutes.configSectionNames.flatMap((section) => {
    const to = wanted[section];
    if (!to) return [];
    const from = current[section] ?? {};
    const names = new Set([...Object.keys(from), ...Object.keys(to)]);
    return [...names]
      .sort()
      .filter((name) => !isSame(from[name], to[name]))
      .map((name) => ({ section, name, from: from[name] ?? null, to: to[name] ?? null }));
  });

export const undo = (changes: readonly ConfigChange[]): ConfigChange[] =>
  changes.map(({ section, name, from, to }) => ({ section, name, from: to, to: from }));

/** Where apps may run once these are done: what else they set may name it. */
export const originsAfter = (
  settings: ConfigEntries | undefined,
  changes: readonly ConfigChange[],
): readonly string[] => {
  const change = changes.find(
    ({ section, name }) => section === 'settings' && name === 'allowedOrigins',
  );
  const origins = change ? change.to : settings?.allowedOrigins;
  return Array.isArray(origins) ? origins.map(String) : [];
};

/** The config once these are done. */
export const applyChanges = (
  current: ProjectConfig,
  changes: readonly ConfigChange[],
): ProjectConfig => {
  const next: Record<string, Json> = {};
  for (const [section, entries] of Object.entries(current)) next[section] = { ...entries };
  for (const { section, name, to } of changes) {
    const entries = next[section] ?? {};
    next[section] = entries;
    if (to === null) delete entries[name];
    else entries[name] = to;
  }
  return normalize(next);
};

export const partFor = ({ section }: ConfigChange) => sections[section].part;
