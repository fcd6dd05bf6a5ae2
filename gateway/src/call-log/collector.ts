import type { LoggedCall, NotedCalls } from '@backlot/contract';

/** In each gateway. docs/limits.md. */
export const callLogBounds = {
  /** Of a project: successes that are kept of a second, failures, and of an owner all. */
  successes: 50,
  failures: 200,
  owner: 500,
  /** Handed over at once. */
  batch: 500,
  /** Waiting to be handed over. */
  held: 2000,
};

/** Of one project, since the last batch. */
interface Noted {
  /** Built when they are handed over; the newest last. */
  calls: (() => LoggedCall)[];
  /** That were too many, before the next line. */
  skipped: number;
  /** Epoch milliseconds. */
  skippedAt: number;
  lost: number;
  /** Epoch milliseconds. */
  lostSince: number;
  lostUntil: number;
}

/** What was noted in the second that runs. */
interface Second {
  successes: number;
  failures: number;
}

/** Of projects that something is known of. */
const mostProjects = 20_000;
const skippedKeptMs = 60_000;

/** While there is room for no more, projects keep so many of theirs. */
const keptWhenFull = 20;

export interface NotedProject {
  number: number;
  ownerId: string | null;
}

/** Calls that wait to be handed over, and who may have how many of them. Nothing here waits for anybody. */
export const createCollector = (now: () => number, bounds = callLogBounds) => {
  const noted = new Map<number, Noted>();
  let projects = new Map<number, Second>();
  let owners = new Map<string | null, number>();
  let secondEndsAt = 0;
  let held = 0;

  const find = (number: number): Noted | undefined => {
    const known = noted.get(number);
    if (known || noted.size >= mostProjects) return known;
    const made: Noted = {
      calls: [],
      skipped: 0,
      skippedAt: 0,
      lost: 0,
      lostSince: 0,
      lostUntil: 0,
    };
    noted.set(number, made);
    return made;
  };

  const lose = (one: Noted, count: number, since: number, until: number) => {
    one.lostSince = one.lost === 0 ? since : Math.min(one.lostSince, since);
    one.lostUntil = Math.max(one.lostUntil, until);
    one.lost += count;
  };

  /** Those who have many give up the older half, so that a newcomer finds room. */
  const makeRoom = () => {
    const at = now();
    for (const one of noted.values()) {
      const given = Math.floor((one.calls.length - keptWhenFull) / 2);
      if (given <= 0) continue;
      one.calls.splice(0, given);
      held -= given;
      lose(one, given, at, at);
    }
  };

  const mayNote = ({ number, ownerId }: NotedProject, isFailure: boolean): boolean => {
    const at = now();
    if (at >= secondEndsAt || at < secondEndsAt - 1000) {
      secondEndsAt = at + 1000;
      projects = new Map();
      owners = new Map();
    }
    const second = projects.get(number) ?? { successes: 0, failures: 0 };
    const ofOwner = owners.get(ownerId) ?? 0;
    const kind = isFailure ? 'failures' : 'successes';
    if (second[kind] >= bounds[kind] || ofOwner >= bounds.owner) return false;
    second[kind] += 1;
    projects.set(number, second);
    owners.set(ownerId, ofOwner + 1);
    return true;
  };

  return {
    /** @param build is called when the call is handed over, if it is */
    note(project: NotedProject, isFailure: boolean, build: () => LoggedCall): void {
      const one = find(project.number);
      if (!one) return;
      if (!mayNote(project, isFailure)) {
        one.skipped += 1;
        one.skippedAt = now();
        return;
      }
      if (held >= bounds.held) makeRoom();
      if (held >= bounds.held) {
        lose(one, 1, now(), now());
        return;
      }
      const { skipped } = one;
      one.skipped = 0;
      one.calls.push(skipped === 0 ? build : () => ({ ...build(), skipped }));
      held += 1;
    },

    /** One call of each project in turn until the batch is full; the oldest first. */
    takeBatch(): NotedCalls[] {
      const batch = new Map<number, LoggedCall[]>();
      let room = bounds.batch;
      let took = true;
      const counts = new Map<number, number>();
      while (room > 0 && took) {
        took = false;
        for (const [number, { calls }] of noted) {
          const count = counts.get(number) ?? 0;
          if (room === 0 || count >= calls.length) continue;
          counts.set(number, count + 1);
          room -= 1;
          took = true;
        }
      }
      for (const [number, count] of counts) {
        const calls = noted.get(number)?.calls.splice(0, count) ?? [];
        held -= calls.length;
        batch.set(
          number,
          calls.map((build) => build()),
        );
      }
      const parts: NotedCalls[] = [];
      for (const [number, one] of noted) {
        const calls = batch.get(number) ?? [];
        const lost = one.lost > 0 &&
          parts.length < bounds.batch && {
            since: new Date(one.lostSince).toISOString(),
            until: new Date(one.lostUntil).toISOString(),
            calls: one.lost,
          };
        if (calls.length === 0 && !lost) continue;
        parts.push({ projectNumber: number, calls, ...(lost && { lost }) });
        if (lost) one.lost = 0;
      }
      const longAgo = now() - skippedKeptMs;
      for (const [number, { calls, skipped, skippedAt, lost }] of noted)
        if (calls.length === 0 && lost === 0 && (skipped === 0 || skippedAt < longAgo))
          noted.delete(number);
      return parts;
    },

    /** A batch that is not handed over any more: its calls are missing in the log, which will say so. */
    giveUp(parts: readonly NotedCalls[]): void {
      const at = now();
      for (const { projectNumber, calls, lost } of parts) {
        const one = find(projectNumber);
        const first = calls[0];
        if (!one) continue;
        if (first) lose(one, calls.length, Date.parse(first.at), at);
        if (lost) lose(one, lost.calls, Date.parse(lost.since), Date.parse(lost.until));
      }
    },

    /** How many calls wait. */
    held: () => held,
  };
};
