import type { Collections } from './collections.ts';
import type { Counts } from './counts.ts';
import type { Lists } from './lists.ts';
import type { Records } from './records.ts';

export interface Nouns {
  collections: Collections;
  records: Records;
  lists: Lists;
  counts: Counts;
}
