import { setFlagsFromString } from 'node:v8';

const flags = [
  // The heap grows to twice of what lives before all of it is collected, not to four times: at 1,500 pages of 50
  // records a second one process had 508 to 558 MiB without it and 377 to 380 with it, at the same rate.
  '--heap-growing-percent=100',
  // A call goes through many small functions, which see requests of several shapes. Two runs each of gets over eight
  // connections, of the raw statement: 0.34 and 0.35 without the next three, 0.37 and 0.40 with them, 0.37 and 0.38
  // with the first of them alone, 0.36 and 0.39 with the others. Lists of 50 pay for it: 0.94 to 0.95 of the calls a
  // second, which the first alone leaves as they are.
  '--max-valid-polymorphic-map-count=8',
  '--max-inlined-bytecode-size=1380',
  '--max-inlined-bytecode-size-cumulative=2760',
];

/** To be called first: what V8 has compiled keeps the limits that held then. */
export const setV8Flags = (): void => {
  for (const flag of flags) setFlagsFromString(flag);
};
