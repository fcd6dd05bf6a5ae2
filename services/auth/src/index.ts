import { runnable } from '@backlot/service';
import { createArgon2Hasher } from './passwords/passwords.ts';
import { authService } from './service.ts';

export type { NewOwner } from './users/ensure-owner.ts';

export const auth = runnable(authService, ({ config }) => ({
  hasher: createArgon2Hasher(config.argon2),
}));
