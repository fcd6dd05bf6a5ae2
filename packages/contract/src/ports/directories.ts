/**
 * What the gateway and services need to know at once, asked of a service in the same process or over
 * HTTP. The gateway caches the answers; events tell it when to forget them.
 */
import type { ServiceName } from '../services.ts';
import type {
  AccountDirectory,
  PeopleDirectory,
  SessionDirectory,
  UserDirectory,
} from './accounts.ts';
import type { ArchiveDirectory, FileArchiveDirectory } from './archives.ts';
import type { CallLogDirectory } from './call-log.ts';
import type { ConfigDirectory } from './config.ts';
import type { CreditDirectory } from './credits.ts';
import type { FileDirectory, ImageDirectory } from './files.ts';
import type { OperationsDirectories } from './operations.ts';
import type {
  HostDirectory,
  KeyDirectory,
  OperatorDirectory,
  OwnerDirectory,
  ProjectDirectory,
} from './projects.ts';
import type { FilterDirectory, RecordDirectory, ShapeDirectory } from './records.ts';

/** Whom one can ask, and which service answers. */
export interface Directories extends OperationsDirectories {
  projects: ProjectDirectory;
  keys: KeyDirectory;
  credits: CreditDirectory;
  callLog: CallLogDirectory;
  operators: OperatorDirectory;
  hosts: HostDirectory;
  owners: OwnerDirectory;
  accounts: AccountDirectory;
  sessions: SessionDirectory;
  users: UserDirectory;
  people: PeopleDirectory;
  shapes: ShapeDirectory;
  records: RecordDirectory;
  filters: FilterDirectory;
  images: ImageDirectory;
  files: FileDirectory;
  recordsConfig: ConfigDirectory;
  aiConfig: ConfigDirectory;
  emailConfig: ConfigDirectory;
  paymentsConfig: ConfigDirectory;
  usersArchive: ArchiveDirectory;
  recordsArchive: ArchiveDirectory;
  filesArchive: FileArchiveDirectory;
}
export type DirectoryName = keyof Directories;

export const directoryServices = {
  projects: 'projects',
  keys: 'projects',
  credits: 'projects',
  callLog: 'projects',
  operators: 'projects',
  hosts: 'projects',
  owners: 'projects',
  accounts: 'auth',
  sessions: 'auth',
  users: 'auth',
  people: 'auth',
  shapes: 'records',
  records: 'records',
  filters: 'records',
  images: 'storage',
  files: 'storage',
  recordsConfig: 'records',
  aiConfig: 'ai',
  emailConfig: 'email',
  paymentsConfig: 'payments',
  usersArchive: 'auth',
  recordsArchive: 'records',
  filesArchive: 'storage',
  authOperations: 'auth',
  recordsOperations: 'records',
  aiOperations: 'ai',
  storageOperations: 'storage',
  emailOperations: 'email',
  paymentsOperations: 'payments',
  projectsOperations: 'projects',
} as const satisfies Record<DirectoryName, ServiceName>;
