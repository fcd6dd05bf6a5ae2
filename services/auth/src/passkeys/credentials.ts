import { ApiError, type authRoutes, type RouteResponse } from '@backlot/contract';
import {
  type AuthenticationResponseJSON,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
  type WebAuthnCredential,
} from '@simplewebauthn/server';
import {
  decodeAttestationObject,
  decodeClientDataJSON,
  isoBase64URL,
} from '@simplewebauthn/server/helpers';
import { challengeMs } from './challenges.ts';
import type { RelyingParty } from './relying-party.ts';

/** EdDSA, ES256, RS256. */
const algorithms = [-8, -7, -257];

export type NewCredential = RegistrationResponseJSON;
export type ShownCredential = AuthenticationResponseJSON;

/** @throws ApiError invalid_body where the browser can not have said so */
export const readClientData = (clientData: string): { challenge: string; origin: string } => {
  try {
    const { challenge, origin, crossOrigin } = decodeClientDataJSON(clientData);
    const isRead = typeof challenge === 'string' && typeof origin === 'string';
    // A frame on somebody else's page: whoever clicks there does not see what for.
    if (isRead && !crossOrigin) return { challenge, origin };
  } catch {
    // Refused below.
  }
  throw new ApiError(
    'invalid_body',
    '"credential": "clientDataJSON" is none of a page of the app.',
  );
};

interface Registering {
  party: RelyingParty;
  challenge: Buffer;
  user: { id: string; email: string; name: string | null };
  known: readonly { id: string; transports: string[] }[];
}

export const registrationOptions = ({
  party,
  challenge,
  user: { id, email, name },
  known,
}: Registering): RouteResponse<typeof authRoutes.createPasskeyOptions> => ({
  challenge: challenge.toString('base64url'),
  rp: { id: party.host, name: party.name },
  user: {
    id: Buffer.from(id).toString('base64url'),
    name: email,
    displayName: name ?? email,
  },
  pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
  timeout: challengeMs,
  excludeCredentials: known.map((one) => ({ type: 'public-key', ...one })),
  authenticatorSelection: {
    residentKey: 'required',
    requireResidentKey: true,
    userVerification: 'required',
  },
  attestation: 'none',
});

/** Without the passkeys of anybody: it is not known yet whose it will be. */
export const signInOptions = (
  party: RelyingParty,
  challenge: Buffer,
): RouteResponse<typeof authRoutes.createPasskeySignIn> => ({
  challenge: challenge.toString('base64url'),
  rpId: party.host,
  timeout: challengeMs,
  userVerification: 'required',
});

/** None, or the key's own: to follow the certificates of others would call addresses that they name. */
const hasOwnAttestation = (attestation: string): boolean => {
  const decoded = decodeAttestationObject(isoBase64URL.toBuffer(attestation));
  const format = decoded.get('fmt');
  if (format === 'none') return true;
  return format === 'packed' && decoded.get('attStmt').get('x5c') === undefined;
};

/** WebAuthn has ids of 1023 bytes at most; of keys an RSA one of 8192 bits is the largest in use. */
const maxIdBytes = 1023;
const maxKeyBytes = 2048;
const isUsual = ({ id, publicKey }: WebAuthnCredential) =>
  Buffer.byteLength(id, 'base64url') <= maxIdBytes && publicKey.length <= maxKeyBytes;

/** Undefined where it does not hold. @param isGood whether a challenge is */
export const verifyNew = async (
  response: NewCredential,
  party: RelyingParty,
  isGood: (challenge: string) => boolean,
): Promise<WebAuthnCredential | undefined> => {
  try {
    if (!hasOwnAttestation(response.response.attestationObject)) return undefined;
    const { registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge: isGood,
      expectedOrigin: party.origin,
      expectedRPID: party.host,
      supportedAlgorithmIDs: algorithms,
    });
    const credential = registrationInfo?.credential;
    return credential && isUsual(credential) ? credential : undefined;
  } catch {
    return undefined;
  }
};

/** The new counter, of a user who was verified; undefined where it does not hold. */
export const verifyShown = async (
  response: ShownCredential,
  credential: WebAuthnCredential,
  party: RelyingParty,
  isGood: (challenge: string) => boolean,
): Promise<number | undefined> => {
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      credential,
      expectedChallenge: isGood,
      expectedOrigin: party.origin,
      expectedRPID: party.host,
    });
    return verified && authenticationInfo.userVerified ? authenticationInfo.newCounter : undefined;
  } catch {
    return undefined;
  }
};
