import { servesAsProcess } from '@backlot/testing';
import { neededSettings } from './testing/test-bed.ts';

const nowhere = 'http://127.0.0.1:1';

servesAsProcess(
  'email',
  new URL('./main.ts', import.meta.url),
  {
    ...neededSettings,
    BACKLOT_AUTH_ORIGIN: nowhere,
    BACKLOT_PROJECTS_ORIGIN: nowhere,
    BACKLOT_STORAGE_ORIGIN: nowhere,
  },
  '/email/send',
);
