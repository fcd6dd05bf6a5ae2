import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { RecordPlace, StoredRecord } from './place.ts';
import { saveChanges } from './save.tsx';
import type { Draft } from './use-draft.ts';
import { createRecord } from './use-record.ts';

export interface SaveProps {
  place: RecordPlace;
  as: string | undefined;
  onSaved(record: StoredRecord): void;
  onCreated(record: StoredRecord): void;
}

/** Saves a draft, one call at a time; a failure leaves it as it stands. */
export const useSave = (draft: Draft, { place, as, onSaved, onCreated }: SaveProps) => {
  const [error, setError] = useState<Error | null>(null);
  const [isSaving, setSaving] = useState(false);
  const [isSaved, setSaved] = useState(false);
  /** Nothing is lost by leaving any more. */
  const isDone = useRef(false);
  const queries = useQueryClient();
  const write = async () => {
    const { base, changes, data } = draft;
    if (!base) {
      const created = await createRecord(place, data);
      isDone.current = true;
      return onCreated(created);
    }
    const saved = await saveChanges({ place, changes, seen: base.record, version: base.version });
    queries.setQueryData(['getRecord', place, as], saved);
    void queries.invalidateQueries({ queryKey: ['getHistory'] });
    draft.take(saved);
    onSaved(saved.record);
    setSaved(true);
  };
  const save = async () => {
    const problem = draft.findProblem();
    if (problem) return setError(problem);
    setSaving(true);
    setSaved(false);
    setError(null);
    try {
      await write();
    } catch (failure) {
      setError(failure as Error);
    } finally {
      setSaving(false);
    }
  };
  return { save, error, setError, isSaving, isSaved, isDone };
};
