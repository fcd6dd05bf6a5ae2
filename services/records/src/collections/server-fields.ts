import type { CollectionAccess } from '@backlot/contract';
import type { CompiledSchema } from '../schema/compiled-schema.ts';
import { compileAccess } from './rules.ts';

/** The access of a collection in which nobody whom rules bind gives or changes what the server writes. */
export const keepServerFields = (
  access: CollectionAccess,
  schema: CompiledSchema | undefined,
): CollectionAccess => {
  if (!schema || schema.serverFields.length === 0) return access;
  const { rules } = compileAccess(access);
  const fields = { ...rules.fields };
  for (const [name] of schema.serverFields)
    fields[name] = { ...fields[name], create: [], change: [] };
  return { ...rules, fields };
};
