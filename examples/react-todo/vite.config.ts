import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [react()],
  // The built app works in any folder of a site.
  base: './',
  // While you develop, the app and the backend share an origin.
  server: { proxy: { '/api': 'http://localhost:8080' } },
});
