import type { Identity } from '@backlot/identity';
import type { TestBed } from './test-bed.ts';

/** The body of an answer; asks again where a busy machine had no time to look at all records. */
export const getInTime = async (bed: TestBed, path: string, identity: Identity) => {
  for (;;) {
    const { status, body } = await bed.call('GET', path, { identity });
    if (body.code === 'query_too_expensive' || body.approximate) continue;
    if (status >= 300) throw new Error(`GET ${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  }
};
