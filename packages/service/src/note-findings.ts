import {
  type EventPayloads,
  mostExamples,
  mostSeenAtOnce,
  mostSigns,
  platformProject,
  type SeenFinding,
} from '@backlot/contract';
import type { Outbox } from '@backlot/database';

/** A project's first one is told with the next report, what comes after it once in so long. */
export const quietMs = 5 * 60_000;
const reportEveryMs = 5000;
/** That have something to tell, or have told within `quietMs`; what others do is not counted. */
const maxProjects = 5000;

interface OfProject {
  toldAt: number;
  seen: Map<string, SeenFinding>;
}

export interface Noted extends Pick<SeenFinding, 'kind'> {
  projectNumber: number;
  signs: readonly string[];
  examples: readonly string[];
  subject?: string;
  calls?: number;
}

export interface NoteFindings {
  /** Costs the call no write. Without signs it is nothing. */
  note(noted: Noted): void;
  /** Tells what has come; what a killed process had not told is lost. */
  report(): Promise<void>;
  /** All that there is, however short ago the last report was: for the end of the process. */
  reportAll(): Promise<void>;
  sweep: { run(): Promise<void>; everyMs: number };
}

/** What a service sees of abuse, counted in memory and told to the operator's list now and then. */
export const createNoteFindings = (
  outbox: Pick<Outbox<EventPayloads>, 'append'>,
  now: () => number,
): NoteFindings => {
  const projects = new Map<number, OfProject>();

  const add = ({ seen }: OfProject, { kind, subject, signs, calls, examples }: SeenFinding) => {
    const key = `${kind} ${subject}`;
    const known = seen.get(key);
    if (!known && seen.size >= mostSeenAtOnce) return;
    seen.set(key, {
      kind,
      subject,
      signs: [...new Set([...(known?.signs ?? []), ...signs])].slice(0, mostSigns),
      calls: (known?.calls ?? 0) + calls,
      examples: [...new Set([...examples, ...(known?.examples ?? [])])].slice(0, mostExamples),
    });
  };

  const tell = async (projectNumber: number, own: OfProject) => {
    const seen = [...own.seen.values()];
    own.seen = new Map();
    own.toldAt = now();
    try {
      await outbox.append('finding.seen', { projectNumber, seen });
    } catch (error) {
      own.toldAt = Number.NEGATIVE_INFINITY;
      for (const one of seen) add(own, one);
      throw error;
    }
  };

  const report = async (isDue: (own: OfProject) => boolean) => {
    for (const [projectNumber, own] of projects) {
      if (!isDue(own)) continue;
      if (own.seen.size === 0) projects.delete(projectNumber);
      else await tell(projectNumber, own);
    }
  };
  const reportDue = () => report(({ toldAt }) => now() - toldAt >= quietMs);

  return {
    note({ projectNumber, kind, subject = '', signs, calls = 1, examples }) {
      if (signs.length === 0 || projectNumber === platformProject.number) return;
      const known = projects.get(projectNumber);
      if (!known && projects.size >= maxProjects) return;
      const own = known ?? { toldAt: Number.NEGATIVE_INFINITY, seen: new Map() };
      if (!known) projects.set(projectNumber, own);
      add(own, { kind, subject, signs: [...signs], calls, examples: [...examples] });
    },
    report: reportDue,
    reportAll: () => report(({ seen }) => seen.size > 0),
    sweep: { run: reportDue, everyMs: reportEveryMs },
  };
};
