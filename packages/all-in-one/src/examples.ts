import { fileURLToPath } from 'node:url';
import { bareApp } from '@backlot/http';
import express, { type Express } from 'express';

export const examplesPath = '/examples/';

/** The example pages, as they lie in the repository. Scripts stand in the page itself or beside it. */
export const examplesApp = (): Express => {
  const app = bareApp();
  app.use((_req, res, next) => {
    res.setHeader('X-Content-Type-Options', 'nosniff');
    res.setHeader(
      'Content-Security-Policy',
      "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'",
    );
    next();
  });
  app.use(
    examplesPath,
    express.static(fileURLToPath(new URL('../../../examples', import.meta.url))),
  );
  app.use((_req, res) => void res.status(404).type('text/plain').send('There is no such page.'));
  return app;
};
