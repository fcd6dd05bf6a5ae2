import { halfOfCores } from '@backlot/fair-shares';
import { defineConfig, isOwnerVerificationOn, ownerVerificationSettings } from '@backlot/service';
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
  /** Owners may not call their users verified before they are verified themselves. */
  isOwnerVerificationOn: boolean;
  keyRotationMs: number;
  verifyTokenMs: number;
  resetTokenMs: number;
  argon2: { memoryKib: number; passes: number; lanes: number };
  /** `queueLength` hashes may wait, `concurrency` run; a further one is refused. */
  hashing: { concurrency: number; queueLength: number };
  limits: {
    signInPerEmail: AttemptLimit;
    signInPerIp: AttemptLimit;
    /** For one account from one IP address from which it signed in before. */
    signInPerKnownIp: AttemptLimit;
    /** Successes count as well. */
    signInsPerEmailAndIp: AttemptLimit;
    signUpPerIp: AttemptLimit;
    /** Of owners: users of the project `platform`. */
    ownerSignUpPerIp: AttemptLimit;
    forgotPerEmail: AttemptLimit;
    forgotPerIp: AttemptLimit;
    emailChangesPerUser: AttemptLimit;
    emailChangesPerIp: AttemptLimit;
    groupsPerIp: AttemptLimit;
    invitesPerUser: AttemptLimit;
    invitesPerIp: AttemptLimit;
  };
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** About a second of work: a hash takes 20-24 ms of a core (docs/decisions on the request path). */
const queuedHashesPerThread = 40;

const positive = z.coerce.number().int().min(1).max(1_000_000);
const count = (initial: number) => positive.default(initial);

const settings = z.object({
  ...ownerVerificationSettings,
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
  BACKLOT_SIGN_INS_PER_EMAIL_AND_IP: count(200),
  BACKLOT_SIGN_UPS_PER_IP_PER_HOUR: count(100),
  BACKLOT_OWNER_SIGN_UPS_PER_IP_PER_HOUR: count(20),
  BACKLOT_RESET_MAILS_PER_EMAIL_PER_HOUR: count(5),
  BACKLOT_RESET_CALLS_PER_IP_PER_HOUR: count(100),
});

export const authConfig = defineConfig(settings, (values): AuthConfig => {
  const concurrency = values.BACKLOT_HASH_CONCURRENCY ?? Math.min(2, halfOfCores);
  const signInWindowMs = values.BACKLOT_SIGN_IN_WINDOW_MINUTES * minuteMs;
  return {
    issuer: values.BACKLOT_TOKEN_ISSUER,
    masterKey: values.BACKLOT_AUTH_MASTER_KEY,
    sessionMs: values.BACKLOT_SESSION_DAYS * dayMs,
    isOwnerVerificationOn: isOwnerVerificationOn(values),
    maxSessionsPerUser: values.BACKLOT_SESSIONS_PER_USER,
    keyRotationMs: values.BACKLOT_KEY_ROTATION_DAYS * dayMs,
    verifyTokenMs: values.BACKLOT_VERIFY_LINK_HOURS * hourMs,
    resetTokenMs: values.BACKLOT_RESET_LINK_MINUTES * minuteMs,
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
      signInPerKnownIp: {
        max: values.BACKLOT_SIGN_IN_FAILURES_PER_EMAIL,
        windowMs: signInWindowMs,
      },
      signInsPerEmailAndIp: {
        max: values.BACKLOT_SIGN_INS_PER_EMAIL_AND_IP,
        windowMs: signInWindowMs,
      },
      signUpPerIp: { max: values.BACKLOT_SIGN_UPS_PER_IP_PER_HOUR, windowMs: hourMs },
      ownerSignUpPerIp: {
        max: values.BACKLOT_OWNER_SIGN_UPS_PER_IP_PER_HOUR,
        windowMs: hourMs,
      },
      forgotPerEmail: { max: values.BACKLOT_RESET_MAILS_PER_EMAIL_PER_HOUR, windowMs: hourMs },
      forgotPerIp: { max: values.BACKLOT_RESET_CALLS_PER_IP_PER_HOUR, windowMs: hourMs },
      emailChangesPerUser: { max: 10, windowMs: hourMs },
      emailChangesPerIp: { max: 100, windowMs: hourMs },
      groupsPerIp: { max: 100, windowMs: hourMs },
      invitesPerUser: { max: 100, windowMs: dayMs },
      invitesPerIp: { max: 100, windowMs: hourMs },
    },
  };
});
