import { DatabaseUnavailable } from '@backlot/database';
import { z } from 'zod';
import { defineConfig, defineService, runnable, type ServiceContext } from '../index.ts';

export interface SmallConfig {
  greeting: string;
}

export interface SmallContext extends ServiceContext<SmallConfig> {
  /** What happened, in order. */
  diary: string[];
  onStart?: () => Promise<void>;
}

const usage = { slots: 2, running: 1, waiting: 3, refused: 0, costMs: 50, owners: [] };

const config = defineConfig(
  z.object({ GREETING: z.string().default('hello') }),
  (settings): SmallConfig => ({ greeting: settings.GREETING }),
);

/** The least that a service can be; it writes down what the kit does with it. */
export const smallService = defineService({
  name: 'records',
  migrations: new URL('./migrations/', import.meta.url),
  config,
  build: ({ config: { greeting }, outbox, diary, onStart }: SmallContext) => ({
    routes: [],
    subscriptions: {
      async 'project.erased'({ projectNumber }, eventId) {
        diary.push(`erased ${projectNumber} by ${eventId}`);
      },
    },
    listeners: {
      'collection.changed': ({ name }) => void diary.push(`changed ${name}`),
    },
    sweeps: [
      {
        run: async () => void diary.push('sweep'),
      },
    ],
    queues: { hobbies: { usage: () => ({ slow: usage }) } },
    async start() {
      diary.push('start');
      await onStart?.();
    },
    stop: async () => void diary.push('stop'),
    api: {
      greet: () => greeting,
      tell: () => outbox.append('collection.changed', { projectNumber: 1, name: 'told' }),
    },
  }),
});

/** It finds PostgreSQL away when it starts. */
export const small = runnable(smallService, () => {
  const diary: string[] = [];
  const onStart = async () => {
    if (diary.length === 1) throw new DatabaseUnavailable();
  };
  return { diary, onStart };
});
