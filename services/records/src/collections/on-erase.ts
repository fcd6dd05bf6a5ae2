import type { CollectionAccess, OnErase } from '@backlot/contract';
import { compileAccess } from './rules.ts';

/** What becomes of a user's records when their account is erased: what nobody but they can read goes, unless said otherwise. */
export const effectiveOnErase = (set: OnErase | null, access: CollectionAccess): OnErase => {
  if (set !== null) return set;
  const words = compileAccess(access).rules.read.flatMap((entry) =>
    typeof entry === 'string' ? [entry] : entry.to,
  );
  return words.length > 0 && words.every((word) => word === 'owner') ? 'delete' : 'keep';
};
