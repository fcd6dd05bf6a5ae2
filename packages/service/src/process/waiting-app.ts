import type { RequestListener, ServerResponse } from 'node:http';
import { answerFailure, type Dependency, readinessBody } from '@backlot/http';

export interface WaitingApp {
  app: RequestListener;
  /** What the process waits for from now on. */
  waitsFor(name: string, reason: string): void;
  /** It waits for nothing any more. */
  open(app: RequestListener): void;
}

const answer = (res: ServerResponse, status: number, body: object) => {
  res.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    ...(status === 503 && { 'Retry-After': '2' }),
  });
  res.end(JSON.stringify(body));
};

/** Whoever waits has written a line about it. */
const noLog = { error() {} };

/**
 * What a process answers with until it can serve: that it lives, and what it waits for. Calls break off, but
 * where it waits for somebody to put a password right.
 */
export const createWaitingApp = (): WaitingApp => {
  let opened: RequestListener | undefined;
  let missing: Dependency[] = [];
  const wait: RequestListener = (req, res) => {
    if (req.url === '/livez') return answer(res, 200, { ok: true });
    if (req.url === '/readyz' || req.url === '/healthz')
      return answer(res, 503, { ok: false, ...readinessBody(missing), dependencies: missing });
    if (missing.some(({ reason }) => reason === 'refuses_role'))
      return answerFailure(req, res, { isRefused: true }, noLog);
    // As if nobody listened yet: who resumes an upload would begin anew after an answer.
    req.socket.destroy();
  };
  return {
    app: (req, res) => (opened ?? wait)(req, res),
    waitsFor(name, reason) {
      const [before] = missing;
      if (before?.name === name && before.reason === reason) return;
      missing = [{ name, state: 'missing', reason, since: new Date().toISOString() }];
    },
    open(app) {
      opened = app;
    },
  };
};
