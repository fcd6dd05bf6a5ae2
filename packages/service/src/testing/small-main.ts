import { runService } from '../index.ts';
import { small } from './small-service.ts';

await runService(small);
