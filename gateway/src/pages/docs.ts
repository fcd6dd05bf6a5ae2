import type { ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { Router } from 'express';

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Backlot API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<p><a href="/docs/guides">Guides</a>: how to do what most apps need. <a href="/llms-full.txt">Every rule</a>, in one text.</p>
<main id="api"></main>
<noscript>This page needs JavaScript. The description itself is at <a href="/docs/openapi.json">/docs/openapi.json</a>.</noscript>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

const start = `window.addEventListener('load', () => {
  window.SwaggerUIBundle({ url: '/docs/openapi.json', dom_id: '#api', deepLinking: true });
});
`;

/** Swagger UI writes style attributes and draws with data: images; scripts come from here alone. */
const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const assets = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'];

const send = (res: ServerResponse, type: string, text: string | Buffer) => {
  res.writeHead(200, {
    'Content-Type': `${type}; charset=utf-8`,
    'Content-Length': Buffer.byteLength(text),
  });
  res.end(text);
};

export interface Description {
  /** The API description of one project, as JSON. Callers share its bytes: there are 235,000. */
  ofProject(projectId: string): readonly Buffer[];
  /** The one of every project, with the project's id as a variable. */
  general: Buffer;
}

/** @param description content of openapi.json */
export const createDescription = (description: object, publicUrl: string): Description => {
  const runtimeUrl = `${publicUrl}/api/runtime/`;
  // JSON text is cut where the address stands, so that a call does not serialise the whole again.
  const mark = '\u0000address\u0000';
  const [before = '', after = ''] = JSON.stringify({
    ...description,
    servers: [{ url: mark }],
  }).split(JSON.stringify(mark));
  const [head, tail] = [Buffer.from(before), Buffer.from(after)];
  return {
    ofProject: (projectId) => [head, Buffer.from(JSON.stringify(runtimeUrl + projectId)), tail],
    general: Buffer.from(
      JSON.stringify({
        ...description,
        servers: [
          { url: `${runtimeUrl}{projectId}`, variables: { projectId: { default: 'demo' } } },
        ],
      }),
    ),
  };
};

export const sendDescription = (res: ServerResponse, json: Buffer): void =>
  send(res, 'application/json', json);

/** A readable page of the API under /docs, without inline scripts and without a foreign server. */
export const docsRouter = (description: Description): Router => {
  const router = Router();
  router.use((_req, res, next) => {
    res.setHeader('Content-Security-Policy', pagePolicy);
    res.setHeader('Cache-Control', 'public, max-age=3600');
    next();
  });
  router.get('/', (_req, res) => send(res, 'text/html', page));
  router.get('/start.js', (_req, res) => send(res, 'text/javascript', start));
  router.get('/openapi.json', (_req, res) => sendDescription(res, description.general));
  const files = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  for (const name of assets)
    router.get(`/${name}`, (_req, res) => res.sendFile(name, { root: files, cacheControl: false }));
  return router;
};
