import { servesAsProcess } from '@backlot/testing';

servesAsProcess(
  'ai',
  new URL('./main.ts', import.meta.url),
  { BACKLOT_SECRETS_KEYS: Buffer.alloc(32, 3).toString('base64') },
  '/ai',
);
