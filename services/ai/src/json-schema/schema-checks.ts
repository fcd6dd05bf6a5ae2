import { createHash } from 'node:crypto';
import type { Flow } from '@backlot/fair-shares';
import type { JsonSchema, JsonSchemas } from './json-schemas.ts';

/** Hashes of 32 bytes; an app sends the same few schemas. */
const maxRemembered = 10_000;

/** @throws SchemaRefused, ApiError overloaded */
export type CheckSchema = (flow: Flow, schema: JsonSchema) => Promise<void>;

/** Checks each schema once; a caller's parallel calls with the same one share the check. */
export const createSchemaChecks = ({ check }: Pick<JsonSchemas, 'check'>): CheckSchema => {
  const validSchemas = new Set<string>();
  /** By caller: nobody's check waits in another's queue. */
  const running = new Map<string, Promise<void>>();

  const remember = (name: string) => {
    const [oldest] = validSchemas;
    if (validSchemas.size >= maxRemembered && oldest !== undefined) validSchemas.delete(oldest);
    validSchemas.add(name);
  };

  return async (flow, schema) => {
    const name = createHash('sha256').update(JSON.stringify(schema)).digest('base64');
    if (validSchemas.has(name)) return;
    const key = JSON.stringify([flow, name]);
    const same = running.get(key);
    if (same !== undefined) return same;
    const checked = check(flow, schema)
      .then(() => remember(name))
      .finally(() => running.delete(key));
    running.set(key, checked);
    return checked;
  };
};
