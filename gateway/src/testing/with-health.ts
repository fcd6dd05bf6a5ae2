import type { RequestListener } from 'node:http';

/** The service, healthy whatever it does with other calls. */
export const withHealth =
  (service: RequestListener): RequestListener =>
  (req, res) =>
    req.url === '/healthz' ? void res.end('{}') : service(req, res);
