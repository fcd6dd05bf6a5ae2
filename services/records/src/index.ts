export { parseConfig, type RecordsConfig } from './config.ts';
export { createRecordsService, type RecordsDeps, type RecordsService } from './service.ts';
