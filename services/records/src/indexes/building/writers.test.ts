import { once } from 'node:events';
import { until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, type TestBed } from '../../testing/test-bed.ts';
import { createWaitForWriters } from './writers.ts';

describe('who waits for writers', () => {
  let bed: TestBed;
  const open = new Set<() => Promise<void>>();
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(async () => {
    await Promise.all([...open].map((end) => end()));
    await bed.close();
  });

  /** A transaction that has written records, until it is ended. */
  const write = async () => {
    const ending = new AbortController();
    let begun = () => {};
    const hasBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const written = bed.database.transaction(async () => {
      await bed.database.query('DELETE FROM records WHERE project_id = $1 AND coll_id = 0', [0]);
      begun();
      await once(ending.signal, 'abort');
    });
    await Promise.race([hasBegun, written]);
    const end = () => {
      open.delete(end);
      ending.abort();
      return written;
    };
    open.add(end);
    return end;
  };

  it('waits for those that were there before, however long others go on to come', async () => {
    const waitForWriters = createWaitForWriters(bed.database);
    let end = await write();
    for (let n = 0; n < 3; n++) {
      expect(await waitForWriters(`change ${n}`)).toBe(false);
      const endNext = await write();
      await end();
      await until(() => waitForWriters(`change ${n}`), { what: 'the end of those before' });
      end = endNext;
    }
    await end();
  });
});
