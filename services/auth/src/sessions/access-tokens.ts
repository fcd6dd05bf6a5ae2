import jwt from 'jsonwebtoken';
import type { Session } from './sessions.ts';
import type { SigningKeys } from './signing-keys.ts';

const seconds = (ms: number) => Math.floor(ms / 1000);

/** JWTs, ES256, good for one project and as long as their session. */
export const createAccessTokens = (
  signingKeys: SigningKeys,
  issuer: string,
  now: () => number,
) => ({
  /** @param projectId the project's public id */
  async issue(projectId: string, session: Session): Promise<string> {
    const { kid, privateKey } = await signingKeys.signer();
    const claims = {
      iss: issuer,
      aud: projectId,
      sub: session.userId,
      sid: session.id,
      iat: seconds(now()),
      exp: seconds(session.expiresAt),
    };
    return jwt.sign(claims, privateKey, { algorithm: 'ES256', keyid: kid });
  },
});

export type AccessTokens = ReturnType<typeof createAccessTokens>;
