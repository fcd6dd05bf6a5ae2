import { createHttpAccountDirectory, createHttpProjectDirectory } from '@backlot/http';
import { runService } from '@backlot/process';
import { parseConfig, parseOrigins } from './config.ts';
import { createEmailService } from './service.ts';

await runService({
  name: 'email',
  port: 8085,
  entry: import.meta.url,
  create(parts) {
    const origins = parseOrigins(process.env);
    const accounts = createHttpAccountDirectory({ ...parts, origin: origins.auth });
    const projects = createHttpProjectDirectory({ ...parts, origin: origins.projects });
    return createEmailService({ ...parts, accounts, projects, config: parseConfig(process.env) });
  },
});
