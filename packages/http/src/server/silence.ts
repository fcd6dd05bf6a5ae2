import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds. */
export interface SilenceTimes {
  /** Between two looks at what waits. */
  lookMs: number;
  /** A wait that is so long has the service asked. */
  suspectMs: number;
  /** How long the answer to that may take. */
  probeMs: number;
  /** Between the starts of two probes while the service is silent. */
  probeEveryMs: number;
}

export interface Wait {
  /** Whether anything of the answer has come. */
  hasAnswer(): boolean;
  fail(error: ServiceSilent): void;
}

export interface SilenceGuard {
  /** @throws ServiceSilent at once while the service is silent; nothing need be sent to it */
  check(): void;
  /** Returns what is called at the wait's end, whatever that was. */
  watch(wait: Wait): () => void;
}

export class ServiceSilent extends Error {
  override name = 'ServiceSilent';
  /** It shows as 503. */
  readonly isUnavailable = true;
}

interface Watched extends Wait {
  sinceMs: number;
  /** The service is asked again after so long a wait. */
  askAfterMs: number;
  hasBegun: boolean;
}

const usualTimes: SilenceTimes = {
  lookMs: 250,
  suspectMs: 1000,
  probeMs: 2000,
  probeEveryMs: 1000,
};

/** Between two probes for the same wait. */
const longestPauseMs = 5000;

/** Whether `/healthz` answers on a new connection; a refused or broken connection is an answer too. */
const answers = (origin: string, { probeMs, lookMs }: SilenceTimes) =>
  new Promise<boolean>((resolve) => {
    const probe = request(`${origin}/healthz`, { agent: false });
    const end = (isAnswered: boolean) => {
      clearInterval(timer);
      resolve(isAnswered);
      probe.destroy();
    };
    // In ticks, and not in one go: a process that is itself too busy to tick is too busy to hear.
    let ticks = Math.ceil(probeMs / lookMs);
    const timer = setInterval(() => {
      ticks -= 1;
      if (ticks === 0) setImmediate(() => end(false));
    }, lookMs).unref();
    probe.once('socket', (socket) => socket.unref());
    probe.once('response', () => end(true));
    probe.on('error', () => end(true));
    probe.end();
  });

/**
 * A process that is frozen, or a network that drops packets, ends no connection. So a service that lets a
 * call wait for about a second is asked for its health on a new connection, by one probe at a time. When
 * that and all that waits is silent for two more, every wait without an answer fails, and so do new ones at
 * once, until a probe each second is answered. Of a service that answers its probe, calls take what they take.
 * @param origin for example `http://auth:8081`
 */
export const createSilenceGuard = (
  origin: string,
  onChange: (isSilent: boolean) => void = () => {},
  times: SilenceTimes = usualTimes,
): SilenceGuard => {
  const { lookMs, suspectMs, probeEveryMs } = times;
  const waits = new Set<Watched>();
  let timer: NodeJS.Timeout | undefined;
  let isSilent = false;
  let isProbing = false;
  let answersBegun = 0;

  const silence = () => new ServiceSilent(`${origin} is silent`);

  const note = (wait: Watched) => {
    if (wait.hasBegun || !wait.hasAnswer()) return;
    wait.hasBegun = true;
    answersBegun += 1;
  };

  const recover = async () => {
    for (;;) {
      const pause = sleep(probeEveryMs, undefined, { ref: false });
      if (await answers(origin, times)) break;
      await pause;
    }
    isSilent = false;
    onChange(false);
  };

  const ask = async (suspects: readonly Watched[]) => {
    const begunBefore = answersBegun;
    const isAnswered = await answers(origin, times);
    for (const wait of waits) note(wait);
    if (isAnswered || answersBegun > begunBefore) {
      for (const wait of suspects) {
        const waitedMs = performance.now() - wait.sinceMs;
        wait.askAfterMs = waitedMs + Math.min(waitedMs, longestPauseMs);
      }
      return;
    }
    isSilent = true;
    onChange(true);
    for (const wait of [...waits]) if (!wait.hasBegun) wait.fail(silence());
    void recover();
  };

  const look = () => {
    const suspects: Watched[] = [];
    const now = performance.now();
    for (const wait of waits) {
      note(wait);
      if (!wait.hasBegun && now - wait.sinceMs >= wait.askAfterMs) suspects.push(wait);
    }
    if (waits.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
    if (suspects.length === 0 || isSilent || isProbing) return;
    isProbing = true;
    void ask(suspects).finally(() => {
      isProbing = false;
    });
  };

  return {
    check() {
      if (isSilent) throw silence();
    },
    watch(wait) {
      const watched = {
        hasAnswer: wait.hasAnswer,
        fail: wait.fail,
        sinceMs: performance.now(),
        askAfterMs: suspectMs,
        hasBegun: false,
      };
      waits.add(watched);
      timer ??= setInterval(look, lookMs).unref();
      return () => {
        if (waits.delete(watched)) note(watched);
      };
    },
  };
};

/** One for each service, whose changes are lines in the log. @param origins by service */
export const createSilenceGuards = <Name extends string>(
  origins: Readonly<Partial<Record<Name, string>>>,
  log: { warn(fields: object, message: string): void },
): Partial<Record<Name, SilenceGuard>> => {
  const entries = Object.entries<string | undefined>(origins).map(([service, origin = '']) => [
    service,
    createSilenceGuard(origin, (isSilent) =>
      log.warn({ service }, isSilent ? 'a service is silent' : 'a service answers again'),
    ),
  ]);
  return Object.fromEntries(entries) as Partial<Record<Name, SilenceGuard>>;
};
