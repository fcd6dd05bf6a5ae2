import { BacklotError } from '@backlot/client';
import type { Data } from './place.ts';

export const formatJson = (data: Data) => JSON.stringify(data, null, 2);

export const readJson = (text: string): { data: Data } | { problem: Error } => {
  try {
    const data: unknown = JSON.parse(text);
    if (typeof data === 'object' && data !== null && !Array.isArray(data))
      return { data: data as Data };
    return { problem: new Error('A record is an object: { … }.') };
  } catch (error) {
    return { problem: new Error(`This is no JSON yet: ${(error as Error).message}`) };
  }
};

/** Of the schema, each beside its field. */
export const problemsByField = (error: Error | null) =>
  new Map(
    (error instanceof BacklotError ? error.problems : []).map(
      ({ path, message }) => [path.split(/[.[]/)[0] ?? path, `${path} ${message}`] as const,
    ),
  );
