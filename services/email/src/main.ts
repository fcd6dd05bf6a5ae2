import { createHttpAccountDirectory, createHttpProjectDirectory } from '@backlot/http';
import { runService } from '@backlot/process';
import { parseConfig, parseOrigins } from './config.ts';
import { createMailer } from './index.ts';
import { createEmailService } from './service.ts';

await runService({
  name: 'email',
  port: 8085,
  entry: import.meta.url,
  create(parts) {
    const origins = parseOrigins(process.env);
    const accounts = createHttpAccountDirectory({ ...parts, origin: origins.auth });
    const projects = createHttpProjectDirectory({ ...parts, origin: origins.projects });
    const config = parseConfig(process.env);
    const mailer = createMailer(config);
    const service = createEmailService({ ...parts, accounts, projects, config, mailer });
    return { ...service, close: () => mailer.close() };
  },
});
