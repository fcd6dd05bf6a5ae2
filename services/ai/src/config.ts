import { z } from 'zod';

/** What the service itself needs; the all-in-one builds it too. */
export interface AiConfig {
  /** How long a call may wait for the model, a repair included. */
  answerTimeoutMs: number;
}

/** What a process of its own needs beside that. */
export interface AiProcessConfig extends AiConfig {
  port: number;
  databaseUrl: string;
  identitySecret: string;
  logLevel: string;
}

const environment = z.object({
  PORT: z.coerce.number().int().min(0).max(65_535).default(8083),
  DATABASE_URL: z.string().min(1),
  BACKLOT_IDENTITY_SECRET: z.string().min(32),
  BACKLOT_LOG_LEVEL: z.string().default('info'),
  /** Contract section 5; the gateway waits 75 s. */
  BACKLOT_AI_TIMEOUT_SECONDS: z.coerce.number().min(1).max(70).default(60),
});

/** @throws ZodError that names the settings which are missing or wrong. */
export const parseConfig = (env: NodeJS.ProcessEnv): AiProcessConfig => {
  const settings = environment.parse(env);
  return {
    port: settings.PORT,
    databaseUrl: settings.DATABASE_URL,
    identitySecret: settings.BACKLOT_IDENTITY_SECRET,
    logLevel: settings.BACKLOT_LOG_LEVEL,
    answerTimeoutMs: settings.BACKLOT_AI_TIMEOUT_SECONDS * 1000,
  };
};
