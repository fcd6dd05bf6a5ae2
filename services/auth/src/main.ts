import { runService } from '@backlot/process';
import { readAuthConfig } from './config.ts';
import { createAuthService } from './service.ts';

await runService({
  name: 'auth',
  port: 8081,
  entry: import.meta.url,
  create: (parts) => createAuthService({ ...parts, config: readAuthConfig(process.env) }),
});
