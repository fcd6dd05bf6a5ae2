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

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const signInWindowMs = hourMs / 4;

/** About a second of work. */
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
  BACKLOT_ARGON2_MEMORY_KIB: z.coerce.number().int().min(8).default(19_456),
  BACKLOT_HASH_CONCURRENCY: positive.optional(),
  BACKLOT_SIGN_IN_FAILURES_PER_IP: count(30),
  BACKLOT_SIGN_UPS_PER_IP_PER_HOUR: count(100),
  BACKLOT_OWNER_SIGN_UPS_PER_IP_PER_HOUR: count(20),
});

export const authConfig = defineConfig(settings, (values): AuthConfig => {
  const concurrency = values.BACKLOT_HASH_CONCURRENCY ?? Math.min(2, halfOfCores);
  return {
    issuer: values.BACKLOT_TOKEN_ISSUER,
    masterKey: values.BACKLOT_AUTH_MASTER_KEY,
    sessionMs: values.BACKLOT_SESSION_DAYS * dayMs,
    isOwnerVerificationOn: isOwnerVerificationOn(values),
    maxSessionsPerUser: 100,
    keyRotationMs: 90 * dayMs,
    verifyTokenMs: 24 * hourMs,
    resetTokenMs: hourMs,
    argon2: { memoryKib: values.BACKLOT_ARGON2_MEMORY_KIB, passes: 2, lanes: 1 },
    hashing: { concurrency, queueLength: queuedHashesPerThread * concurrency },
    limits: {
      signInPerEmail: { max: 10, windowMs: signInWindowMs },
      signInPerIp: { max: values.BACKLOT_SIGN_IN_FAILURES_PER_IP, windowMs: signInWindowMs },
      signInPerKnownIp: { max: 10, windowMs: signInWindowMs },
      signInsPerEmailAndIp: { max: 200, windowMs: signInWindowMs },
      signUpPerIp: { max: values.BACKLOT_SIGN_UPS_PER_IP_PER_HOUR, windowMs: hourMs },
      ownerSignUpPerIp: {
        max: values.BACKLOT_OWNER_SIGN_UPS_PER_IP_PER_HOUR,
        windowMs: hourMs,
      },
      forgotPerEmail: { max: 5, windowMs: hourMs },
      forgotPerIp: { max: 100, windowMs: hourMs },
      emailChangesPerUser: { max: 10, windowMs: hourMs },
      emailChangesPerIp: { max: 100, windowMs: hourMs },
      groupsPerIp: { max: 100, windowMs: hourMs },
      invitesPerUser: { max: 100, windowMs: dayMs },
      invitesPerIp: { max: 100, windowMs: hourMs },
    },
  };
});
