import { createHash } from 'node:crypto';
import type { Requester } from '@backlot/fair-shares';
import { type JsonSchema, type JsonSchemas, SchemaRefused, schemaText } from './json-schemas.ts';

/** Hashes of 32 bytes; an app sends the same few schemas. */
const maxRemembered = 10_000;
/** Whoever sends a refused schema again at once, or makes others send it, gets the same answer without the thread. */
const refusedMs = 5000;
const projectsWithRefusals = 50;
const refusalsPerProject = 8;

interface Refusal {
  message: string;
  /** By the clock of `now`. */
  until: number;
}

/** The oldest gives way. */
const setBounded = <Value>(map: Map<string, Value>, name: string, value: Value, max: number) => {
  map.delete(name);
  const [oldest] = map.keys();
  if (map.size >= max && oldest !== undefined) map.delete(oldest);
  map.set(name, value);
};

/** @throws SchemaRefused, ApiError overloaded */
export type CheckSchema = (requester: Requester, schema: JsonSchema) => Promise<void>;

/**
 * Checks each schema once, and a refused one of a project again after five seconds; a caller's parallel calls with the
 * same one share the check.
 * @param now milliseconds that only go forward
 */
export const createSchemaChecks = (
  { check }: Pick<JsonSchemas, 'check'>,
  now = () => performance.now(),
): CheckSchema => {
  const validSchemas = new Map<string, true>();
  /** By project, then by schema. */
  const refusals = new Map<string, Map<string, Refusal>>();
  /** By caller: nobody's check waits in another's queue. */
  const running = new Map<string, Promise<void>>();

  const rememberRefusal = (projectId: string, name: string, error: unknown) => {
    if (!(error instanceof SchemaRefused)) return;
    const known = refusals.get(projectId) ?? new Map<string, Refusal>();
    const refusal = { message: error.message, until: now() + refusedMs };
    setBounded(known, name, refusal, refusalsPerProject);
    setBounded(refusals, projectId, known, projectsWithRefusals);
  };

  return async (requester, schema) => {
    const [, projectId] = requester;
    const name = createHash('sha256').update(schemaText(schema)).digest('base64');
    if (validSchemas.has(name)) return;
    const refusal = refusals.get(projectId)?.get(name);
    if (refusal && refusal.until > now()) throw new SchemaRefused(refusal.message);
    const key = JSON.stringify([requester, name]);
    const same = running.get(key);
    if (same !== undefined) return same;
    const checked = check(requester, schema)
      .then(
        () => setBounded(validSchemas, name, true, maxRemembered),
        (error) => {
          rememberRefusal(projectId, name, error);
          throw error;
        },
      )
      .finally(() => running.delete(key));
    running.set(key, checked);
    return checked;
  };
};
