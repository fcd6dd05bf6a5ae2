import type { BacklotError } from '@backlot/client';
import { useQuery } from '@tanstack/react-query';
import { call } from '../../../api/call.ts';
import {
  type Data,
  type RecordPlace,
  readRecord,
  type StoredRecord,
  type Versioned,
} from './place.ts';

/** A record with its version. */
export const useRecord = (place: RecordPlace, as: string | undefined, enabled: boolean) =>
  useQuery<Versioned, BacklotError>({
    queryKey: ['getRecord', place, as],
    queryFn: () => readRecord(place, as),
    enabled,
    staleTime: 0,
    // A megabyte each: what is closed is let go.
    gcTime: 10_000,
  });

/** @throws BacklotError */
export const createRecord = async (
  { projectId, collection }: Omit<RecordPlace, 'id'>,
  data: Data,
): Promise<StoredRecord> =>
  (await call('createRecord', {
    project: projectId,
    params: { collection },
    body: { data: { ...data } },
  })) as StoredRecord;
