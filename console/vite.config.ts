import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { contractFacts } from './build/contract-facts.ts';

export default defineConfig({
  base: '/console/',
  plugins: [react(), contractFacts()],
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    // Its helper would be an inline script where a browser knows no module preload.
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  // `pnpm --filter @backlot/console dev` beside `pnpm dev`: changes show without a reload.
  server: { port: 8090, proxy: { '^/(api|docs|design|mailbox)(/|$)': 'http://localhost:8080' } },
});
