import {
  type AiService,
  createAiService,
  createJsonSchemas,
  createModelProvider,
  parseConfig as parseAiConfig,
} from '@backlot/ai';
import { type AuthService, createAuthService, readAuthConfig } from '@backlot/auth';
import type { Bus } from '@backlot/bus';
import type { Counters } from '@backlot/counters';
import { createDatabase, migrate } from '@backlot/database';
import {
  createEmailService,
  createMailer,
  type EmailService,
  parseConfig as parseEmailConfig,
} from '@backlot/email';
import type { IdentitySecret } from '@backlot/identity';
import {
  createPaymentsService,
  type PaymentsService,
  parseConfig as parsePaymentsConfig,
} from '@backlot/payments';
import {
  createProjectsService,
  type ProjectsService,
  parseConfig as parseProjectsConfig,
} from '@backlot/projects';
import {
  createRecordsService,
  parseConfig as parseRecordsConfig,
  type RecordsService,
} from '@backlot/records';
import {
  createStorageService,
  openBlobStore,
  parseBlobStoreConfig,
  parseConfig as parseStorageConfig,
  type StorageService,
} from '@backlot/storage';
import type { Logger } from '@backlot/telemetry';
import { migrations } from './migrations.ts';

export interface ServicesOptions {
  settings: Readonly<Record<string, string | undefined>>;
  databaseUrl: string;
  publicUrl: string;
  /** Where files lie unless settings say otherwise. */
  filesDir: string;
  masterKey: string;
  /** In base64; seals what projects entrust to the platform. */
  secretsKey: string;
  identitySecret: IdentitySecret;
  now: () => number;
  log: Logger;
  bus: Bus;
  counters: Counters;
  checkResponses: boolean;
}

export interface Services {
  auth: AuthService;
  projects: ProjectsService;
  records: RecordsService;
  ai: AiService;
  storage: StorageService;
  email: EmailService;
  payments: PaymentsService;
}

/** Migrates, creates and starts every service; what must be stopped is pushed to `running`. */
export const startServices = async (
  { settings, databaseUrl, publicUrl, filesDir, masterKey, secretsKey, ...shared }: ServicesOptions,
  running: (() => Promise<unknown>)[],
): Promise<Services> => {
  for (const each of migrations) await migrate({ url: databaseUrl, ...each });
  const databaseOf = (schema: string) => {
    const database = createDatabase({
      url: databaseUrl,
      schema,
      onConnectionLost: (error) =>
        shared.log.warn({ err: error }, 'lost a connection to PostgreSQL'),
    });
    running.push(() => database.close());
    return database;
  };
  const env = {
    ...settings,
    BACKLOT_PUBLIC_URL: publicUrl,
    BACKLOT_AUTH_MASTER_KEY: masterKey,
    BACKLOT_SECRETS_KEYS: settings.BACKLOT_SECRETS_KEYS ?? secretsKey,
    BACKLOT_STORAGE_DIR:
      settings.BACKLOT_STORAGE_DIR ?? (settings.BACKLOT_S3_BUCKET ? undefined : filesDir),
  };
  const store = openBlobStore(parseBlobStoreConfig(env));
  running.push(() => store.close());
  const aiConfig = parseAiConfig(env);
  const schemas = createJsonSchemas();
  running.push(() => schemas.close());
  const emailConfig = parseEmailConfig(env);
  const mailer = createMailer(emailConfig);
  running.push(() => mailer.close());
  const auth = createAuthService({
    ...shared,
    database: databaseOf('auth'),
    // One hash at a time leaves the other threads of the pool to everything else in this process.
    config: readAuthConfig(env, { hashConcurrency: 1 }),
  });
  const projects = createProjectsService({
    ...shared,
    database: databaseOf('projects'),
    config: parseProjectsConfig(env),
  });
  const services = {
    auth,
    projects,
    records: createRecordsService({
      ...shared,
      database: databaseOf('records'),
      config: parseRecordsConfig(env),
    }),
    ai: createAiService({
      ...shared,
      database: databaseOf('ai'),
      config: aiConfig,
      provider: createModelProvider(aiConfig, schemas, shared.log),
      schemas,
    }),
    storage: createStorageService({
      ...shared,
      database: databaseOf('storage'),
      config: parseStorageConfig(env),
      store,
    }),
    email: createEmailService({
      ...shared,
      database: databaseOf('email'),
      config: emailConfig,
      mailer,
      projects: projects.directory,
      accounts: auth.accounts,
    }),
    payments: createPaymentsService({
      ...shared,
      database: databaseOf('payments'),
      config: parsePaymentsConfig(env),
      projects: projects.directory,
    }),
  };
  for (const service of Object.values(services)) {
    await service.start();
    running.push(() => service.stop());
  }
  return services;
};
