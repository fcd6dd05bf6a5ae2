import { z } from 'zod';
import type { Suspendable } from '../rights/suspensions.ts';

/** What services see of abuse, in calls as they come: nothing of it refuses a call. */
const seenKinds = ['exposure', 'mailWords', 'fileNames', 'junkSignUps'] as const;
/** What the calls of all projects show: much more of something than in the week before. */
export const burstKinds = ['mails', 'signUps', 'uploads', 'refusedWrites'] as const;

export const findingKinds = [...burstKinds, ...seenKinds] as const;
export type FindingKind = (typeof findingKinds)[number];

/** Whose suspension stops it, and from how many calls on it is listed; bursts have bounds of their own. */
export const findingRules: Readonly<
  Record<FindingKind, { capability: Suspendable; least: number }>
> = {
  mails: { capability: 'mail', least: 1 },
  signUps: { capability: 'writes', least: 1 },
  uploads: { capability: 'uploads', least: 1 },
  refusedWrites: { capability: 'writes', least: 1 },
  exposure: { capability: 'all', least: 1 },
  mailWords: { capability: 'mail', least: 3 },
  fileNames: { capability: 'uploads', least: 2 },
  junkSignUps: { capability: 'writes', least: 10 },
};

export const mostSigns = 12;
export const mostExamples = 5;

/** What a service has seen of one subject since it told last. */
export const seenFinding = z.object({
  kind: z.enum(seenKinds),
  /** Of a project's several: the collection. */
  subject: z.string().max(200),
  /** Names of what was looked for and is there. */
  signs: z.array(z.string().max(50)).max(mostSigns),
  calls: z.int().min(1),
  /** Ids of mails, files or accounts, or names of fields: where to look, not what is in it. */
  examples: z.array(z.string().max(200)).max(mostExamples),
});
export type SeenFinding = z.infer<typeof seenFinding>;

/** Of a project, in one event. */
export const mostSeenAtOnce = 20;
