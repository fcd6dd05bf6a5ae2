import { availableParallelism } from 'node:os';
import { z } from 'zod';

/** At most `max` within a window that begins with the first one counted. */
export interface AttemptLimit {
  max: number;
  windowMs: number;
}

export interface AuthConfig {
  /** The claim `iss` of every token. */
  issuer: string;
  /** 32 bytes; seals the private signing keys. */
  masterKey: Buffer;
  sessionMs: number;
  maxSessionsPerUser: number;
  keyRotationMs: number;
  verifyTokenMs: number;
  resetTokenMs: number;
  argon2: { memoryKib: number; passes: number; lanes: number };
  /** `queueLength` hashes may wait, `concurrency` run; a further one is refused. */
  hashing: { concurrency: number; queueLength: number };
  limits: {
    signInPerEmail: AttemptLimit;
    signInPerIp: AttemptLimit;
    /** For one account from one address from which it signed in before. */
    signInPerKnownAddress: AttemptLimit;
    signUpPerIp: AttemptLimit;
    forgotPerEmail: AttemptLimit;
    forgotPerIp: AttemptLimit;
  };
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** About a second of work: a hash takes 20-24 ms of a core (docs/decisions on the request path). */
const queuedHashesPerThread = 40;

const positive = z.coerce.number().int().min(1).max(1_000_000);
const count = (standard: number) => positive.default(standard);

const environment = z.object({
  BACKLOT_AUTH_MASTER_KEY: z
    .base64()
    .transform((value) => Buffer.from(value, 'base64'))
    .refine((key) => key.length === 32, 'must be 32 bytes in base64'),
  BACKLOT_TOKEN_ISSUER: z.string().min(1).max(255).default('backlot'),
  BACKLOT_SESSION_DAYS: count(30),
  BACKLOT_SESSIONS_PER_USER: z.coerce.number().int().min(1).max(1000).default(100),
  BACKLOT_KEY_ROTATION_DAYS: count(90),
  BACKLOT_VERIFY_LINK_HOURS: count(24),
  BACKLOT_RESET_LINK_MINUTES: count(60),
  BACKLOT_ARGON2_MEMORY_KIB: z.coerce.number().int().min(8).default(19_456),
  BACKLOT_ARGON2_PASSES: count(2),
  BACKLOT_HASH_CONCURRENCY: positive.optional(),
  BACKLOT_HASH_QUEUE: positive.optional(),
  BACKLOT_SIGN_IN_WINDOW_MINUTES: count(15),
  BACKLOT_SIGN_IN_FAILURES_PER_EMAIL: count(10),
  BACKLOT_SIGN_IN_FAILURES_PER_IP: count(30),
  BACKLOT_SIGN_UPS_PER_IP_PER_HOUR: count(100),
  BACKLOT_RESET_MAILS_PER_EMAIL_PER_HOUR: count(5),
  BACKLOT_RESET_CALLS_PER_IP_PER_HOUR: count(100),
});

type Environment = Record<string, string | undefined>;

/** A variable that is left empty counts as not set. */
const given = (env: Environment) =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));

/**
 * Contract section 3 holds the defaults' source.
 * @param defaults what the surrounding process sets where the environment says nothing.
 * @throws z.ZodError naming the variable
 */
export const readAuthConfig = (
  env: Environment,
  defaults: { hashConcurrency?: number } = {},
): AuthConfig => {
  const values = environment.parse(given(env));
  const concurrency =
    values.BACKLOT_HASH_CONCURRENCY ??
    defaults.hashConcurrency ??
    Math.min(2, availableParallelism());
  const signInWindowMs = values.BACKLOT_SIGN_IN_WINDOW_MINUTES * MINUTE;
  return {
    issuer: values.BACKLOT_TOKEN_ISSUER,
    masterKey: values.BACKLOT_AUTH_MASTER_KEY,
    sessionMs: values.BACKLOT_SESSION_DAYS * DAY,
    maxSessionsPerUser: values.BACKLOT_SESSIONS_PER_USER,
    keyRotationMs: values.BACKLOT_KEY_ROTATION_DAYS * DAY,
    verifyTokenMs: values.BACKLOT_VERIFY_LINK_HOURS * HOUR,
    resetTokenMs: values.BACKLOT_RESET_LINK_MINUTES * MINUTE,
    argon2: {
      memoryKib: values.BACKLOT_ARGON2_MEMORY_KIB,
      passes: values.BACKLOT_ARGON2_PASSES,
      lanes: 1,
    },
    hashing: {
      concurrency,
      queueLength: values.BACKLOT_HASH_QUEUE ?? queuedHashesPerThread * concurrency,
    },
    limits: {
      signInPerEmail: { max: values.BACKLOT_SIGN_IN_FAILURES_PER_EMAIL, windowMs: signInWindowMs },
      signInPerIp: { max: values.BACKLOT_SIGN_IN_FAILURES_PER_IP, windowMs: signInWindowMs },
      signInPerKnownAddress: {
        max: values.BACKLOT_SIGN_IN_FAILURES_PER_EMAIL,
        windowMs: signInWindowMs,
      },
      signUpPerIp: { max: values.BACKLOT_SIGN_UPS_PER_IP_PER_HOUR, windowMs: HOUR },
      forgotPerEmail: { max: values.BACKLOT_RESET_MAILS_PER_EMAIL_PER_HOUR, windowMs: HOUR },
      forgotPerIp: { max: values.BACKLOT_RESET_CALLS_PER_IP_PER_HOUR, windowMs: HOUR },
    },
  };
};
