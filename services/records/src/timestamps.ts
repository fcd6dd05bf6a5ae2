export const toIso = (ms: number): string => new Date(ms).toISOString();

/** Epoch milliseconds, with microseconds as the fraction. */
export type Timestamp = number;

const iso =
  /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(Z|[+-]\d\d:?\d\d)?)?)?)?$/i;

/** ISO 8601, from a year to microseconds; without an offset it is UTC. Undefined for anything else. */
export const parseTimestamp = (text: string): Timestamp | undefined => {
  const match = iso.exec(text);
  if (!match) return undefined;
  const [
    ,
    year,
    month = '01',
    day = '01',
    hour = '00',
    minute = '00',
    second = '00',
    fraction = '',
  ] = match;
  const normalized = `${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`;
  const wholeMs = Date.parse(normalized);
  // Date.parse takes 30 February for 2 March, and 24:00 for the next day.
  if (Number.isNaN(wholeMs) || new Date(wholeMs).toISOString() !== normalized) return undefined;
  const offsetMs = parseOffset(match[8] ?? 'Z');
  if (offsetMs === undefined) return undefined;
  return wholeMs - offsetMs + Number(fraction.padEnd(6, '0').slice(0, 6)) / 1000;
};

const parseOffset = (text: string): number | undefined => {
  if (text.toUpperCase() === 'Z') return 0;
  const hours = Number(text.slice(1, 3));
  const minutes = Number(text.slice(-2));
  if (hours > 23 || minutes > 59) return undefined;
  return (text.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000;
};

/** A UUIDv7 holds 48 bits of time. */
const latestMs = 2 ** 48 - 1;

/** The lowest UUID of this millisecond; ids of earlier records are below it, all others are not. */
export const lowestIdAt = (ms: number): string => {
  const clamped = Math.min(Math.max(Math.ceil(ms), 0), latestMs);
  const hex = clamped.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
};

/** The time in a UUIDv7, epoch milliseconds. */
export const idTimeMs = (id: string): number =>
  Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
