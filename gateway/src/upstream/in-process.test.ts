import { expect, it } from '@jest/globals';
import { createTestBed } from '../testing/test-bed.ts';
import { upstreamConformance } from '../testing/upstream.conformance.ts';
import { createInProcessUpstream } from './in-process.ts';

upstreamConformance('in-process', async (service) => createInProcessUpstream(service));

it("a service that hands the call on or fails is answered in the contract's form", async () => {
  for (const [error, status, code] of [
    [undefined, 404, 'route_not_found'],
    [new Error('broken'), 500, 'internal'],
  ] as const) {
    const upstream = createInProcessUpstream((_req, _res, next) => next(error));
    const bed = await createTestBed({ upstream: () => upstream });
    expect(await bed.call('GET', '/api/runtime/demo/db/notes')).toMatchObject({
      status,
      body: { code },
    });
    await bed.close();
  }
});
