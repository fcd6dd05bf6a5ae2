import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [react()],
  // The linked client has a React of its own, for its types.
  resolve: { dedupe: ['react'] },
  // The built app works in any folder of a site.
  base: './',
  // While you develop, the app and the backend share an origin.
  server: { proxy: { '/api': 'http://localhost:8080' } },
});
