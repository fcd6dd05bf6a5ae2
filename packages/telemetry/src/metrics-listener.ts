import type { RequestListener } from 'node:http';
import type { Registry } from 'prom-client';

/** Prometheus' text for a port that only the platform's own network reaches. */
export const metricsListener =
  (registry: Registry): RequestListener =>
  (_req, res) => {
    registry.metrics().then(
      (text) => {
        res.writeHead(200, {
          'Content-Type': registry.contentType,
          'Content-Length': Buffer.byteLength(text),
        });
        res.end(text);
      },
      () => {
        res.writeHead(500);
        res.end();
      },
    );
  };
