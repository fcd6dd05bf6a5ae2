export const kinds = {
  project: 'Projects',
  owner: 'Owners',
  route: 'Routes',
  address: 'Networks',
} as const;
export type Kind = keyof typeof kinds;

export const measures = {
  '-calls': 'Calls',
  '-errors': 'Failing calls',
  '-bytes': 'Data',
  '-dbMs': 'Time of PostgreSQL',
  '-cpuMs': 'Time of services',
  '-millicredits': 'Credits',
} as const;
export type Measure = keyof typeof measures;

/** In hours. */
export const periods = { 1: '1 hour', 24: '1 day', 168: '7 days', 720: '30 days' } as const;

/** What is looked at, as the page's address has it. */
export interface LoadSearch {
  by?: Kind;
  sort?: Measure;
  /** The last so many hours; an hour unless stated. */
  hours?: number;
  /** Instead of them, in ISO 8601. */
  from?: string;
  to?: string;
  projectId?: string;
  ownerId?: string;
  route?: string;
}

const isTime = (value: unknown) => typeof value === 'string' && !Number.isNaN(Date.parse(value));
const isName = (value: unknown) => typeof value === 'string' && /^[\w-]{1,64}$/.test(value);
const isPeriod = (value: unknown) => typeof value === 'number' && value in periods;

/** Leaves out what means nothing here. */
export const toLoadSearch = (given: Record<string, unknown>): LoadSearch => {
  const isGood = {
    by: String(given.by) in kinds,
    sort: String(given.sort) in measures,
    hours: isPeriod(given.hours),
    from: isTime(given.from),
    to: isTime(given.to),
    projectId: isName(given.projectId),
    ownerId: isName(given.ownerId),
    route: isName(given.route),
  };
  return Object.fromEntries(
    Object.entries(isGood).flatMap(([name, good]) => (good ? [[name, given[name]]] : [])),
  );
};
