import { type CallSum, mostCallSums } from '@backlot/contract';

export type Sums = Omit<CallSum, 'kind' | 'projectNumber' | 'name'>;

export interface SummedCall {
  /** 0: of none. */
  projectNumber: number;
  operation: string;
  network: string;
  status: number;
  bytes: number;
  databaseUs: number;
  threadUs: number;
}

const others = { projectNumber: 0, name: '' } as const;

const noSums = (): Sums => ({
  calls: 0,
  errors: 0,
  refusals: 0,
  faults: 0,
  bytes: 0,
  databaseUs: 0,
  threadUs: 0,
});

const addCall = (sums: Sums, { status, bytes, databaseUs, threadUs }: SummedCall) => {
  sums.calls += 1;
  if (status >= 400) {
    sums.errors += 1;
    if (status === 402 || status === 429) sums.refusals += 1;
    else if (status >= 500) sums.faults += 1;
  }
  sums.bytes += bytes;
  sums.databaseUs += databaseUs;
  sums.threadUs += threadUs;
};

const addSums = (sums: Sums, more: Sums) => {
  for (const name of Object.keys(sums) as (keyof Sums)[]) sums[name] += more[name];
};

/** In microseconds of everything: who is heavy in any way is among the heavy ones. */
const weigh = ({ calls, bytes, databaseUs, threadUs }: Sums) =>
  calls * 200 + bytes / 100 + databaseUs + threadUs;

/** Sums of one kind by project and name. Of twice as many as may be told apart the lighter half becomes "others". */
const createTable = (kind: CallSum['kind'], most: number) => {
  let projects = new Map<number, Map<string, Sums>>();
  let count = 0;

  const find = (projectNumber: number, name: string): Sums => {
    let names = projects.get(projectNumber);
    if (!names) {
      names = new Map();
      projects.set(projectNumber, names);
    }
    let sums = names.get(name);
    if (!sums) {
      sums = noSums();
      names.set(name, sums);
      count += 1;
    }
    return sums;
  };

  const list = (): CallSum[] =>
    [...projects].flatMap(([projectNumber, names]) =>
      [...names].map(([name, sums]) => ({ kind, projectNumber, name, ...sums })),
    );

  const shorten = () => {
    const heaviest = list().sort((a, b) => weigh(b) - weigh(a));
    projects = new Map();
    count = 0;
    for (const [index, { kind: _, projectNumber, name, ...sums }] of heaviest.entries()) {
      const place = index < most - 1 ? { projectNumber, name } : others;
      addSums(find(place.projectNumber, place.name), sums);
    }
  };

  return {
    add(name: string, call: SummedCall): void {
      addCall(find(call.projectNumber, name), call);
      if (count >= 2 * most) shorten();
    },
    take(): CallSum[] {
      if (count > most) shorten();
      const taken = list();
      projects = new Map();
      count = 0;
      return taken;
    },
  };
};

/** What calls come to, whatever becomes of them, by route and by network of each project. */
export const createCallSums = (now: () => number, most = mostCallSums) => {
  const tables = { routes: createTable('route', most), networks: createTable('address', most) };
  let since: number | undefined;
  return {
    add(call: SummedCall): void {
      since ??= now();
      tables.routes.add(call.operation, call);
      tables.networks.add(call.network, call);
    },
    isEmpty: () => since === undefined,
    /** Undefined where there was no call. */
    take(): { since: string; items: CallSum[] } | undefined {
      if (since === undefined) return undefined;
      const taken = { since: new Date(since).toISOString(), items: [] as CallSum[] };
      taken.items.push(...tables.routes.take(), ...tables.networks.take());
      since = undefined;
      return taken;
    },
  };
};
export type CallSums = ReturnType<typeof createCallSums>;
