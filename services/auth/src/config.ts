import { halfOfCores } from '@backlot/fair-shares';
import { masterKeysSetting } from '@backlot/sealing';
import {
  defineConfig,
  isOwnerVerificationOn,
  ownerVerificationSettings,
  publicUrlSetting,
} from '@backlot/service';
import { z } from 'zod';

/** At most `max` within a window that begins with the first one counted. */
export interface AttemptLimit {
  max: number;
  windowMs: number;
  /** Past so many a call needs a proof of work. */
  proofFrom?: number | undefined;
}

export interface AuthConfig {
  /** The claim `iss` of every token. */
  issuer: string;
  /** 32 bytes; seals the private signing keys. */
  /** The first one seals signing keys, all of them open. */
  masterKeys: Buffer[];
  /** Seal what users and owners entrust to the service; the first one is current. */
  secretsKeys: Buffer[];
  /** Where the gateway is reached from outside, without a slash at the end. */
  publicUrl: string;
  /** Clients at providers that count for all projects, by the provider's name. */
  operatorClients: Readonly<Record<string, { clientId: string; clientSecret: string }>>;
  /** Issuers may be on this machine: where a developer works. */
  issuersOnLoopback: boolean;
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
    guestsPerIp: AttemptLimit;
    codesPerEmail: AttemptLimit;
    codesPerIp: AttemptLimit;
    codeGuessesPerEmail: AttemptLimit;
    forgotPerEmail: AttemptLimit;
    forgotPerIp: AttemptLimit;
    emailChangesPerUser: AttemptLimit;
    emailChangesPerIp: AttemptLimit;
    groupsPerIp: AttemptLimit;
    invitesPerUser: AttemptLimit;
    invitesPerIp: AttemptLimit;
    /** Wrong codes of second factors. */
    factorGuessesPerUser: AttemptLimit;
    factorGuessesPerUserAndDay: AttemptLimit;
    factorGuessesPerIp: AttemptLimit;
    /** Passkeys that do not hold. */
    passkeyFailuresPerIp: AttemptLimit;
    /** Ways to providers that were begun. */
    oauthPerIp: AttemptLimit;
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
  BACKLOT_AUTH_MASTER_KEY: masterKeysSetting,
  BACKLOT_SECRETS_KEYS: masterKeysSetting,
  BACKLOT_PUBLIC_URL: publicUrlSetting,
  BACKLOT_GOOGLE_CLIENT_ID: z.string().max(300).optional(),
  BACKLOT_GOOGLE_CLIENT_SECRET: z.string().max(4000).optional(),
  BACKLOT_GITHUB_CLIENT_ID: z.string().max(300).optional(),
  BACKLOT_GITHUB_CLIENT_SECRET: z.string().max(4000).optional(),
  BACKLOT_WEBHOOKS_TO_LOOPBACK: z.enum(['on', 'off']).default('off'),
  BACKLOT_TOKEN_ISSUER: z.string().min(1).max(255).default('backlot'),
  BACKLOT_SESSION_DAYS: count(30),
  BACKLOT_ARGON2_MEMORY_KIB: z.coerce.number().int().min(8).default(19_456),
  BACKLOT_HASH_CONCURRENCY: positive.optional(),
  BACKLOT_SIGN_IN_FAILURES_PER_IP: count(30),
  BACKLOT_SIGN_UPS_PER_IP_PER_HOUR: count(100),
  BACKLOT_OWNER_SIGN_UPS_PER_IP_PER_HOUR: count(20),
});

/** @throws Error where one half of it is missing */
const readClient = (name: string, clientId?: string, clientSecret?: string) => {
  if (clientId === undefined && clientSecret === undefined) return {};
  if (clientId === undefined || clientSecret === undefined)
    throw new Error(
      `Wrong settings:\n  BACKLOT_${name.toUpperCase()}_CLIENT_ID and _CLIENT_SECRET: are needed together`,
    );
  return { [name]: { clientId, clientSecret } };
};

/** Past half of what it may, an address has to work for each call. */
const withProof = (max: number, windowMs: number): AttemptLimit => ({
  max,
  windowMs,
  proofFrom: Math.ceil(max / 2),
});

export const authConfig = defineConfig(settings, (values): AuthConfig => {
  const concurrency = values.BACKLOT_HASH_CONCURRENCY ?? Math.min(2, halfOfCores);
  return {
    issuer: values.BACKLOT_TOKEN_ISSUER,
    masterKeys: values.BACKLOT_AUTH_MASTER_KEY,
    secretsKeys: values.BACKLOT_SECRETS_KEYS,
    publicUrl: values.BACKLOT_PUBLIC_URL,
    operatorClients: {
      ...readClient('google', values.BACKLOT_GOOGLE_CLIENT_ID, values.BACKLOT_GOOGLE_CLIENT_SECRET),
      ...readClient('github', values.BACKLOT_GITHUB_CLIENT_ID, values.BACKLOT_GITHUB_CLIENT_SECRET),
    },
    issuersOnLoopback: values.BACKLOT_WEBHOOKS_TO_LOOPBACK === 'on',
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
      signInPerIp: withProof(values.BACKLOT_SIGN_IN_FAILURES_PER_IP, signInWindowMs),
      signInPerKnownIp: { max: 10, windowMs: signInWindowMs },
      signInsPerEmailAndIp: { max: 200, windowMs: signInWindowMs },
      signUpPerIp: withProof(values.BACKLOT_SIGN_UPS_PER_IP_PER_HOUR, hourMs),
      ownerSignUpPerIp: withProof(values.BACKLOT_OWNER_SIGN_UPS_PER_IP_PER_HOUR, hourMs),
      guestsPerIp: { max: 30, windowMs: hourMs },
      codesPerEmail: { max: 5, windowMs: hourMs },
      codesPerIp: { max: 100, windowMs: hourMs },
      codeGuessesPerEmail: { max: 15, windowMs: dayMs },
      forgotPerEmail: { max: 5, windowMs: hourMs },
      forgotPerIp: { max: 100, windowMs: hourMs },
      emailChangesPerUser: { max: 10, windowMs: hourMs },
      emailChangesPerIp: { max: 100, windowMs: hourMs },
      groupsPerIp: { max: 100, windowMs: hourMs },
      invitesPerUser: { max: 100, windowMs: dayMs },
      invitesPerIp: { max: 100, windowMs: hourMs },
      factorGuessesPerUser: { max: 5, windowMs: signInWindowMs },
      factorGuessesPerUserAndDay: { max: 30, windowMs: dayMs },
      factorGuessesPerIp: { max: 30, windowMs: signInWindowMs },
      passkeyFailuresPerIp: { max: 30, windowMs: signInWindowMs },
      oauthPerIp: { max: 200, windowMs: hourMs },
    },
  };
});
