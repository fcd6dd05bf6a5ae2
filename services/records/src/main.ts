import { runService } from '@backlot/process';
import { parseConfig } from './config.ts';
import { createRecordsService } from './service.ts';

await runService({
  name: 'records',
  port: 8082,
  entry: import.meta.url,
  create: (parts) => createRecordsService({ ...parts, config: parseConfig(process.env) }),
});
