import { servesAsProcess } from '@backlot/testing';

servesAsProcess(
  'ai',
  new URL('./main.ts', import.meta.url),
  {
    BACKLOT_SECRETS_KEYS: Buffer.alloc(32, 3).toString('base64'),
    BACKLOT_STORAGE_ORIGIN: 'http://127.0.0.1:1',
  },
  '/ai',
);
