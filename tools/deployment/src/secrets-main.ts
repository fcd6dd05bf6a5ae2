import { runSecrets } from './run-secrets.ts';

process.exitCode = await runSecrets(process.argv.slice(2), '.env', console.log);
