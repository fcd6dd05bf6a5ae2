import type { z } from 'zod';
import { channelEvents } from './channels.ts';
import { creditEvents } from './credits.ts';
import { mailEvents } from './mails.ts';
import { paymentEvents } from './payments.ts';
import { projectEvents } from './projects.ts';
import { recordEvents } from './records.ts';
import { userEvents } from './users.ts';

/**
 * What services tell each other. Every event reaches each subscriber at least once; its id is unique
 * for good, so that a consumer can drop a repetition.
 */
export const events = {
  ...projectEvents,
  ...userEvents,
  ...recordEvents,
  ...channelEvents,
  ...creditEvents,
  ...paymentEvents,
  ...mailEvents,
} as const;

export type Topic = keyof typeof events;
export type Payload<T extends Topic> = z.infer<(typeof events)[T]>;
export type EventPayloads = { [T in Topic]: Payload<T> };
