import { fileURLToPath } from 'node:url';
import { ai } from '@backlot/ai';
import { auth } from '@backlot/auth';
import { email } from '@backlot/email';
import { payments } from '@backlot/payments';
import { projects } from '@backlot/projects';
import { records } from '@backlot/records';
import type { RunnableService } from '@backlot/service';
import { storage } from '@backlot/storage';

/** Every service; one that others ask stands before them. */
export const serviceList = { auth, projects, records, storage, ai, email, payments };

/** The same without what is special to each. */
export const runnableServices: readonly RunnableService<object, never>[] =
  Object.values(serviceList);

/** Each service's schema and its numbered SQL files. */
export const migrations = runnableServices.map(({ name, migrations, distributed }) => ({
  schema: name,
  directory: fileURLToPath(migrations),
  distributed,
}));
