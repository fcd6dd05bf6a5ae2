import { randomUUID } from 'node:crypto';
import type { ServiceContext } from '@backlot/service';
import { countRepeats, type Logger } from '@backlot/telemetry';
import { createChannels } from '../channels/channels.ts';
import { createLiveStreams, type LiveStreamsDeps } from './live-streams.ts';
import { announceEveryMs, createWakes } from './wakes.ts';

/** Each tail looks at its log so often, whether it was woken or not. */
const lookEveryMs = 2000;

interface LiveDeps
  extends Pick<
    LiveStreamsDeps,
    'database' | 'find' | 'forget' | 'cursorKeys' | 'now' | 'catchUps'
  > {
  bus: ServiceContext<unknown>['bus'];
  log: Logger;
}

/** Streams of changes, and what wakes them: in this process, and by messages that may be lost in others. */
export const createLive = ({ bus, log, ...deps }: LiveDeps) => {
  const process = randomUUID();
  const clock = performance.now.bind(performance);
  const wakes = createWakes({
    tell: (topic, payload) =>
      void bus.publish({ id: randomUUID(), topic, payload }).catch(() => undefined),
    now: clock,
    process,
    onWritten: (projectNumber) => streams.wake(projectNumber),
  });
  const channels = createChannels({
    publish: (topic, payload) => bus.publish({ id: randomUUID(), topic, payload }),
    process,
    now: deps.now,
    clock,
    isWatchedElsewhere: wakes.isWatchedElsewhere,
    onFailure: countRepeats((failure) =>
      log.warn(failure, 'other processes were not told of what is said in channels'),
    ),
  });
  const streams = createLiveStreams({
    ...deps,
    channels,
    onFailure: countRepeats((failure) => log.warn(failure, 'changes could not be read; retrying')),
    onWatch: wakes.watch,
  });
  return {
    streams,
    channels,
    wakes,
    sweeps: [
      ...channels.sweeps,
      { run: () => streams.lookAtAll(), everyMs: lookEveryMs },
      { run: async () => wakes.announce(streams.watched()), everyMs: announceEveryMs },
    ],
  };
};
