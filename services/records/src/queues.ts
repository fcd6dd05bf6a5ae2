import { mostBatched } from '@backlot/database';
import { connections, cpuWork, heldMemory } from '@backlot/fair-shares';
import type { RecordsConfig } from './config.ts';

/** Pages that an index leads to, or as short, read at once: some of the connections, so that writes find one. */
const quickSlots = 6;

/** Single writes that run at once, of four owners at least; most are written together. */
const writePlaces = { places: 4 * mostBatched, perOwner: mostBatched };

/** Batches that are written at once: some of the connections, for the same reason. An owner's second is read meanwhile. */
const batchPlaces = { places: 3, perOwner: 2, maxWaiting: 500 };

/** Imports under way: each holds some megabytes, and writes in turns among the batches. */
const importPlaces = { places: 6, perOwner: 2, maxWaiting: 64 };

/** Small reads on the same connections, such as the list of collections. */
const smallReadPlaces = { places: 2, maxWaiting: 500 };

/** Parts of the log for streams that have missed some: each may want 100 of them. */
const catchUpPlaces = { places: 2, maxWaiting: 2000 };

/** Parts of large answers that PostgreSQL is at, up to 1 MiB each: they would wait for a second behind scans. */
const largeReadSlots = 2;

/** Parts of large answers in memory, up to 1 MiB each. Who waits holds a connection to the gateway. */
const largeAnswers = { places: 48 };

/** What records share out: CPU work of PostgreSQL, its connections, and memory for answers. */
export const createQueues = ({
  scanConcurrency: places,
}: Pick<RecordsConfig, 'scanConcurrency'>) => ({
  scans: cpuWork({ places, quickPlaces: quickSlots, restRatio: 1 }),
  quickScans: cpuWork({ places }),
  writes: connections(writePlaces),
  batches: connections(batchPlaces),
  imports: connections(importPlaces),
  smallReads: connections(smallReadPlaces),
  largeReads: cpuWork({ places: Math.min(largeReadSlots, places), restRatio: 1 }),
  catchUps: connections(catchUpPlaces),
  answers: heldMemory(largeAnswers),
});

export type Queues = ReturnType<typeof createQueues>;
