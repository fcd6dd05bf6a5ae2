import { importPKCS8, SignJWT } from 'jose';

export interface AppleKey {
  /** The file (.p8), in PEM. */
  key: string;
  keyId: string;
  teamId: string;
  clientId: string;
}

const lifetimeSeconds = 300;

export const isKeyFile = (secret: string): boolean =>
  secret.includes('-----BEGIN PRIVATE KEY-----');

/**
 * A client secret as Apple takes it (developer.apple.com, "Creating a client secret"): signed for a few minutes.
 * @throws where the key is none
 */
export const signAppleSecret = async (
  { key, keyId, teamId, clientId }: AppleKey,
  nowMs: number,
): Promise<string> => {
  const at = Math.floor(nowMs / 1000);
  return new SignJWT()
    .setProtectedHeader({ alg: 'ES256', kid: keyId })
    .setIssuer(teamId)
    .setSubject(clientId)
    .setAudience('https://appleid.apple.com')
    .setIssuedAt(at)
    .setExpirationTime(at + lifetimeSeconds)
    .sign(await importPKCS8(key, 'ES256'));
};
