import { runGateway } from './run.ts';

await runGateway(process.env);
