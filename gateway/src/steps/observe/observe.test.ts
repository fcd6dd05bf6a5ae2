import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { planHeader } from '@backlot/contract';
import { createLogger } from '@backlot/telemetry';
import { until } from '@backlot/testing';
import { expect, it } from '@jest/globals';
import { createTestBed } from '../../testing/test-bed.ts';
import { withHealth } from '../../testing/with-health.ts';
import { createHttpUpstream } from '../../upstream/http.ts';
import { createInProcessUpstream } from '../../upstream/in-process.ts';

/** Tells how every answer was found. */
const service: RequestListener = (req, res) => {
  req.resume();
  res.writeHead(200, { 'Content-Type': 'application/json', [planHeader]: 'index,scan' });
  res.end('{}');
};

const listen = async () => {
  const server = createServer(withHealth(service));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
};

it('how an answer was found stands in the line of its call, and goes to nobody else', async () => {
  const { server, origin } = await listen();
  for (const upstream of [createInProcessUpstream(service), createHttpUpstream(origin)]) {
    const lines: string[] = [];
    const log = createLogger({
      service: 'gateway',
      destination: { write: (line) => void lines.push(line) },
    });
    const bed = await createTestBed({
      service: () => service,
      upstream: () => upstream,
      deps: { log },
      config: { accessLog: true },
    });
    for (const path of ['/db/notes', '/db/notes/_count', '/db/notes/_aggregate']) {
      lines.length = 0;
      const { status, headers } = await bed.call('GET', `/api/runtime/demo${path}`);
      expect([path, status, headers.get(planHeader)]).toEqual([path, 200, null]);
      await until(() => lines.length > 0);
      expect(JSON.parse(lines[0] ?? '')).toMatchObject({ msg: 'call', plan: 'index,scan' });
    }
    await bed.close();
  }
  server.closeAllConnections();
  server.close();
});
