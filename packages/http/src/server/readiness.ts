/** `missing`: some calls, or all, fail. `degraded`: all are served, less well than they should. */
export type DependencyState = 'works' | 'degraded' | 'missing';

/** What a process needs for its work, as one look found it. */
export interface Finding {
  /** `postgresql`, `redis`, `rabbitmq`, `files`, `model`, `mailer`, `secrets`, a service. */
  name: string;
  state: DependencyState;
  /** Where more is known of it, in one word. */
  reason?: string;
}

export interface Dependency extends Finding {
  /** When a look found this state first, in ISO 8601. */
  since: string;
}

export interface ServiceReadiness {
  /** False where no call can be served, so that none should be sent. */
  isServing: boolean;
  dependencies: readonly Dependency[];
}

/**
 * Remembers since when what it is told of is in its state; the longest for which this process can know.
 * @param now epoch milliseconds
 */
export const rememberSince = (
  now: () => number,
): ((findings: readonly Finding[]) => Dependency[]) => {
  const known = new Map<string, Dependency>();
  return (findings) =>
    findings.map((finding) => {
      const before = known.get(finding.name);
      const since = before?.state === finding.state ? before.since : new Date(now()).toISOString();
      const dependency = { ...finding, since };
      known.set(finding.name, dependency);
      return dependency;
    });
};

type Named = Pick<Finding, 'name' | 'state'>;

const namesIn = (findings: readonly Named[], state: DependencyState) => [
  ...new Set(findings.filter((one) => one.state === state).map(({ name }) => name)),
];

/** The names alone, as `/readyz` answers anybody. */
export const readinessBody = (findings: readonly Named[]) => {
  const missing = namesIn(findings, 'missing');
  const degraded = namesIn(findings, 'degraded').filter((name) => !missing.includes(name));
  return { ...(missing.length > 0 && { missing }), ...(degraded.length > 0 && { degraded }) };
};

/**
 * Those who ask while a look goes on, and for so long afterwards, share its result.
 * @param now milliseconds
 */
export const shareLook = <T>(
  look: () => Promise<T>,
  now: () => number,
  keptMs = 1000,
): (() => Promise<T>) => {
  let shared: Promise<T> | undefined;
  let isOver = false;
  let overAt = 0;
  return () => {
    if (shared && (!isOver || now() - overAt < keptMs)) return shared;
    isOver = false;
    shared = look().finally(() => {
      isOver = true;
      overAt = now();
    });
    return shared;
  };
};
