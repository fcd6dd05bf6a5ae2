import { createHttpProjectDirectory } from '@backlot/http';
import { runService } from '@backlot/process';
import { parseConfig, parseOrigins } from './config.ts';
import { createPaymentsService } from './service.ts';

await runService({
  name: 'payments',
  port: 8086,
  entry: import.meta.url,
  create(parts) {
    const origins = parseOrigins(process.env);
    const projects = createHttpProjectDirectory({ ...parts, origin: origins.projects });
    return createPaymentsService({ ...parts, projects, config: parseConfig(process.env) });
  },
});
