import react from '@vitejs/plugin-react';
import vue from '@vitejs/plugin-vue';
import { defineConfig } from 'vite';

const client = process.env.BACKLOT_CLIENT;

export default defineConfig({
  plugins: [react(), vue()],
  base: './',
  resolve: {
    // The modules that the package of the client has.
    alias: [
      { find: '@backlot/client/react', replacement: `${client}sdk-react.js` },
      { find: /^@backlot\/client$/, replacement: `${client}sdk.js` },
    ],
    dedupe: ['react'],
  },
});
