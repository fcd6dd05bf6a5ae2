import { fileURLToPath } from 'node:url';

const directoryOf = (entry: string) =>
  fileURLToPath(new URL('../migrations', import.meta.resolve(entry)));

/** Each service's schema and its numbered SQL files. */
export const migrations = [
  { schema: 'auth', directory: directoryOf('@backlot/auth') },
  { schema: 'projects', directory: directoryOf('@backlot/projects') },
  { schema: 'records', directory: directoryOf('@backlot/records') },
  { schema: 'ai', directory: directoryOf('@backlot/ai') },
  { schema: 'storage', directory: directoryOf('@backlot/storage') },
  { schema: 'email', directory: directoryOf('@backlot/email') },
  { schema: 'payments', directory: directoryOf('@backlot/payments') },
];
