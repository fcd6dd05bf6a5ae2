import { setTimeout as sleep } from 'node:timers/promises';

export type Outcome =
  | { kind: 'served' }
  | { kind: 'refused'; status: number; code: string; retryAfter: string | null }
  /** The connection ended, or nothing came in time. */
  | { kind: 'unanswered' };

const patienceMs = 20_000;
const maxTries = 10;

/** One `POST /ai`. */
export const ask = async (
  gateway: string,
  projectId: string,
  content: string,
): Promise<Outcome> => {
  try {
    const answer = await fetch(`${gateway}/api/runtime/${projectId}/ai`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content }], maxTokens: 200 }),
      signal: AbortSignal.timeout(patienceMs),
    });
    const body = (await answer.json()) as { code?: string };
    if (answer.status === 200) return { kind: 'served' };
    const { status, headers } = answer;
    return {
      kind: 'refused',
      status,
      code: body.code ?? '',
      retryAfter: headers.get('retry-after'),
    };
  } catch {
    return { kind: 'unanswered' };
  }
};

/** The same by a caller who comes again as long as a stack that is short of time tells them to. */
export const askPatiently = async (...call: Parameters<typeof ask>): Promise<Outcome> => {
  for (let tries = 1; ; tries++) {
    const outcome = await ask(...call);
    if (outcome.kind !== 'refused' || outcome.status !== 503 || tries === maxTries) return outcome;
    await sleep(Number(outcome.retryAfter) * 1000);
  }
};

/** How many ended in what: `served`, `402 out_of_credits`, `unanswered`. */
export const tally = (outcomes: readonly Outcome[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const outcome of outcomes) {
    const name = outcome.kind === 'refused' ? `${outcome.status} ${outcome.code}` : outcome.kind;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
};

/** Runs `work` after so long. */
export const later = async <T>(delayMs: number, work: () => Promise<T>): Promise<T> => {
  await sleep(delayMs);
  return work();
};
