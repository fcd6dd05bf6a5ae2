import { runService } from '@backlot/service';
import { projects } from './index.ts';

await runService(projects);
