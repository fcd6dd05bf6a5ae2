import { ApiError } from '@backlot/contract';
import { nearestName, printable, validate } from '@backlot/http';
import { z } from 'zod';
import type { Tool } from './tool.ts';
import { tools } from './tools.ts';

type Json = Record<string, unknown>;

/** Not every client reads references. */
const withoutReferences = (schema: unknown, named: Json): unknown => {
  if (Array.isArray(schema)) return schema.map((part) => withoutReferences(part, named));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { $ref, ...rest } = schema as Json;
  const target = typeof $ref === 'string' ? named[$ref.replace('#/$defs/', '')] : {};
  const parts = Object.entries({ ...(target as Json), ...rest });
  return Object.fromEntries(parts.map(([key, part]) => [key, withoutReferences(part, named)]));
};

const inputSchemas = new Map(
  tools.map(({ name, input }) => {
    const {
      $schema: _,
      $defs = {},
      ...schema
    } = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' });
    return [name, withoutReferences(schema, $defs) as { type: 'object' }];
  }),
);

/** As a client sees it. */
export const describeTool = ({ name, title, description, scope, isDestructive }: Tool) => ({
  name,
  title,
  description,
  inputSchema: inputSchemas.get(name) ?? { type: 'object' as const },
  annotations: {
    readOnlyHint: scope === 'read',
    destructiveHint: isDestructive,
    openWorldHint: false,
  },
});

/** @throws ApiError invalid_body that names what is wrong */
export const readInput = ({ input }: Tool, given: unknown) => {
  const names = Object.keys(input.shape);
  for (const name of Object.keys(given ?? {})) {
    if (names.includes(name)) continue;
    const nearest = nearestName(name, names);
    throw new ApiError('invalid_body', `There is no parameter "${printable(name)}".`, {
      hint: nearest ? `Did you mean "${nearest}"?` : `There are: ${names.join(', ')}.`,
    });
  }
  return validate(input, given ?? {}, 'invalid_body') as Record<string, unknown>;
};
