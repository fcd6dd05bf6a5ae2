import { createHash } from 'node:crypto';
import { ApiError } from '@backlot/contract';
import type { JsonSchema, JsonSchemas } from './json-schemas.ts';

/** Unlike ones of one project at a time: its visitors keep the threads from nobody else. */
const maxPerProject = 4;
/** 32 bytes each; an app sends the same few ones. */
const maxRemembered = 10_000;

/** @throws SchemaRefused, ApiError overloaded */
export type CheckSchema = (projectNumber: number, schema: JsonSchema) => Promise<void>;

/** Checks each schema once: whoever sends the same one meanwhile waits for the same answer. */
export const createSchemaChecks = ({ check }: Pick<JsonSchemas, 'check'>): CheckSchema => {
  const good = new Set<string>();
  const underWay = new Map<number, Map<string, Promise<void>>>();

  const remember = (name: string) => {
    const [oldest] = good;
    if (good.size >= maxRemembered && oldest !== undefined) good.delete(oldest);
    good.add(name);
  };

  return async (projectNumber, schema) => {
    const name = createHash('sha256').update(JSON.stringify(schema)).digest('base64');
    if (good.has(name)) return;
    const ofProject = underWay.get(projectNumber) ?? new Map<string, Promise<void>>();
    const same = ofProject.get(name);
    if (same) return same;
    if (ofProject.size >= maxPerProject) {
      throw new ApiError('overloaded', 'This app sends too many schemas. Try again shortly.', {
        retryAfterSeconds: 1,
      });
    }
    const checked = check(schema)
      .then(() => remember(name))
      .finally(() => {
        ofProject.delete(name);
        if (ofProject.size === 0) underWay.delete(projectNumber);
      });
    ofProject.set(name, checked);
    underWay.set(projectNumber, ofProject);
    return checked;
  };
};
