import { z } from 'zod';
import { defineRoute, KIB } from '../../define-route.ts';
import { displayName, idInPath, listOf, ok, timestamp, uuid } from '../../schemas.ts';
import { everyone, merge, mergeErrors, session, toAll, toSetUp } from './user.ts';

const base = { service: 'auth', plane: 'runtime', servesPlatformProject: true } as const;
const ofUser = { ...base, callers: ['user'], opensTo: toSetUp } as const;

/** An attestation of several certificates fits. */
const bodyLimitBytes = 64 * KIB;

const base64url = (maxLength: number) =>
  z
    .string()
    .max(maxLength, { abort: true })
    .regex(/^[A-Za-z0-9_-]*$/, 'must be base64url');

const credentialId = base64url(1368).min(1);
const clientDataJSON = base64url(8 * KIB);
/** Browsers add what this does not read. */
const credentialFields = {
  id: credentialId,
  rawId: credentialId,
  type: z.literal('public-key'),
  authenticatorAttachment: z.string().max(40).nullish(),
  clientExtensionResults: z.looseObject({}).optional(),
};

const transports = z
  .array(
    z
      .string()
      .max(40)
      .regex(/^[\w-]*$/, 'must be of letters, digits and -'),
  )
  .max(10);

/** What `navigator.credentials.create` gives, as its `toJSON` writes it. */
const newCredential = z.looseObject({
  ...credentialFields,
  response: z.looseObject({
    clientDataJSON,
    attestationObject: base64url(48 * KIB),
    transports: transports.optional(),
  }),
});

/** What `navigator.credentials.get` gives. */
const shownCredential = z.looseObject({
  ...credentialFields,
  response: z.looseObject({
    clientDataJSON,
    authenticatorData: base64url(8 * KIB),
    signature: base64url(4 * KIB),
    userHandle: base64url(128).nullish(),
  }),
});

const described = z.object({
  type: z.literal('public-key'),
  id: z.string(),
  transports: z.array(z.string()).optional(),
});

const registrationOptions = z
  .object({
    challenge: z.string().describe('Good for 5 minutes, once'),
    rp: z.object({ id: z.string(), name: z.string() }),
    user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
    pubKeyCredParams: z.array(z.object({ type: z.literal('public-key'), alg: z.int() })),
    timeout: z.int(),
    excludeCredentials: z.array(described),
    authenticatorSelection: z.object({
      residentKey: z.literal('required'),
      requireResidentKey: z.literal(true),
      userVerification: z.literal('required'),
    }),
    attestation: z.literal('none'),
  })
  .meta({ id: 'PasskeyRegistration' });

const signInOptions = z
  .object({
    challenge: z.string().describe('Good for 5 minutes, once'),
    rpId: z.string(),
    timeout: z.int(),
    userVerification: z.literal('required'),
  })
  .meta({ id: 'PasskeySignIn' });

const passkeyName = displayName(100);

export const passkey = z
  .object({
    id: uuid,
    name: z.string(),
    host: z.string().describe('Where it signs in'),
    createdAt: timestamp,
    lastUsedAt: timestamp.nullable(),
  })
  .meta({ id: 'Passkey' });

export type Passkey = z.infer<typeof passkey>;

export const createPasskeyOptions = defineRoute({
  ...ofUser,
  operationId: 'createPasskeyOptions',
  method: 'POST',
  path: '/auth/passkeys/options',
  summary: 'What a browser makes a passkey with: navigator.credentials.create',
  limit: 'write',
  response: registrationOptions,
  status: 200,
  errors: [
    'origin_unproven',
    'limit_reached',
    'factor_first',
    'forbidden',
    'reauthentication_needed',
  ],
});

export const addPasskey = defineRoute({
  ...ofUser,
  operationId: 'addPasskey',
  method: 'POST',
  path: '/auth/passkeys',
  summary: 'Keep a passkey that the browser has made; it signs in by itself',
  limit: 'write',
  bodyLimitBytes,
  changesCaller: true,
  body: z.object({ credential: newCredential, name: passkeyName.optional() }),
  response: passkey,
  status: 201,
  errors: [
    'invalid_body',
    'origin_unproven',
    'limit_reached',
    'conflict',
    'factor_first',
    'forbidden',
  ],
});

export const listPasskeys = defineRoute({
  ...ofUser,
  opensTo: toAll,
  operationId: 'listPasskeys',
  method: 'GET',
  path: '/auth/passkeys',
  summary: 'The own passkeys, newest first',
  limit: 'read',
  response: listOf(passkey),
  status: 200,
  errors: [],
});

export const renamePasskey = defineRoute({
  ...ofUser,
  opensTo: ['unverified'],
  operationId: 'renamePasskey',
  method: 'PATCH',
  path: '/auth/passkeys/:id',
  summary: 'Name a passkey',
  limit: 'write',
  params: z.object({ id: idInPath }),
  body: z.object({ name: passkeyName }),
  response: passkey,
  status: 200,
  errors: ['invalid_body', 'not_found'],
});

export const deletePasskey = defineRoute({
  ...ofUser,
  opensTo: ['unverified'],
  operationId: 'deletePasskey',
  method: 'DELETE',
  path: '/auth/passkeys/:id',
  summary: 'Forget a passkey: it signs in no more; the last way of signing in stays',
  limit: 'write',
  params: z.object({ id: idInPath }),
  response: ok,
  status: 200,
  errors: ['not_found', 'conflict', 'reauthentication_needed'],
});

export const createPasskeySignIn = defineRoute({
  ...base,
  operationId: 'createPasskeySignIn',
  method: 'POST',
  path: '/auth/passkeys/sign-in/options',
  summary: 'What a browser shows a passkey with: navigator.credentials.get',
  callers: everyone,
  opensTo: toAll,
  limit: 'write',
  response: signInOptions,
  status: 200,
  errors: ['origin_unproven'],
});

export const signInWithPasskey = defineRoute({
  ...base,
  operationId: 'signInWithPasskey',
  method: 'POST',
  path: '/auth/passkeys/sign-in',
  summary: 'Sign in with a passkey, which counts as both factors',
  callers: everyone,
  opensTo: toAll,
  limit: 'write',
  bodyLimitBytes,
  body: z.object({ credential: shownCredential, merge }),
  response: session,
  status: 200,
  errors: [
    'invalid_body',
    'invalid_credentials',
    'origin_unproven',
    'too_many_attempts',
    ...mergeErrors,
  ],
});
