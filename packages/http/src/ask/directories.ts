import {
  type Directories,
  type DirectoryName,
  directoryServices,
  type ServiceName,
} from '@backlot/contract';
import { type IdentityKey, signingKey } from '@backlot/identity';
import type { SilenceGuard } from '../server/silence.ts';
import {
  createHttpAccountDirectory,
  createHttpPeopleDirectory,
  createHttpSessionDirectory,
  createHttpUserDirectory,
} from './accounts.ts';
import { createHttpArchiveDirectory, createHttpFileArchiveDirectory } from './archives.ts';
import type { HttpDirectoryOptions } from './ask.ts';
import { createHttpCallLogDirectory } from './call-log.ts';
import { createHttpConfigDirectory } from './config.ts';
import { createHttpCreditDirectory } from './credits.ts';
import { createHttpFileDirectory, createHttpImageDirectory } from './files.ts';
import { createHttpOperations } from './operations.ts';
import {
  createHttpHostDirectory,
  createHttpKeyDirectory,
  createHttpOperatorDirectory,
  createHttpOwnerDirectory,
  createHttpProjectDirectory,
} from './projects.ts';
import {
  createHttpFilterDirectory,
  createHttpRecordDirectory,
  createHttpShapeDirectory,
} from './records.ts';

const httpDirectories: {
  [Name in DirectoryName]: (options: HttpDirectoryOptions) => Directories[Name];
} = {
  projects: createHttpProjectDirectory,
  keys: createHttpKeyDirectory,
  credits: createHttpCreditDirectory,
  callLog: createHttpCallLogDirectory,
  operators: createHttpOperatorDirectory,
  hosts: createHttpHostDirectory,
  owners: createHttpOwnerDirectory,
  accounts: createHttpAccountDirectory,
  sessions: createHttpSessionDirectory,
  users: createHttpUserDirectory,
  people: createHttpPeopleDirectory,
  shapes: createHttpShapeDirectory,
  records: createHttpRecordDirectory,
  filters: createHttpFilterDirectory,
  images: createHttpImageDirectory,
  files: createHttpFileDirectory,
  recordsConfig: createHttpConfigDirectory,
  aiConfig: createHttpConfigDirectory,
  emailConfig: createHttpConfigDirectory,
  paymentsConfig: createHttpConfigDirectory,
  usersArchive: createHttpArchiveDirectory,
  recordsArchive: createHttpArchiveDirectory,
  filesArchive: createHttpFileArchiveDirectory,
  authOperations: createHttpOperations,
  recordsOperations: createHttpOperations,
  aiOperations: createHttpOperations,
  storageOperations: createHttpOperations,
  emailOperations: createHttpOperations,
  paymentsOperations: createHttpOperations,
  projectsOperations: createHttpOperations,
};

interface AskingProcess extends Pick<HttpDirectoryOptions, 'now' | 'currentOrigin'> {
  identityKeys: readonly IdentityKey[];
}

/**
 * The directories of these names, of services that are processes of their own.
 * @param guards by service; a directory without one makes its own
 * @throws RangeError without a key to sign with
 */
export const createHttpDirectories = <Name extends DirectoryName>(
  names: readonly Name[],
  origins: Readonly<Partial<Record<ServiceName, string>>>,
  { identityKeys, now, currentOrigin }: AskingProcess,
  guards: Partial<Record<ServiceName, SilenceGuard>> = {},
): Pick<Directories, Name> => {
  const entries = names.map((name) => {
    const service = directoryServices[name];
    const origin = origins[service];
    if (origin === undefined) throw new Error(`Where ${service} is reached is not given.`);
    const identityKey = signingKey(identityKeys, service);
    const options = { origin, identityKey, now, guard: guards[service], currentOrigin };
    return [name, httpDirectories[name](options)];
  });
  return Object.fromEntries(entries) as Pick<Directories, Name>;
};
