import jwt from 'jsonwebtoken';
import type { Session } from './sessions.ts';
import type { SigningKeys } from './signing-keys.ts';

export interface TokenOptions {
  keys: SigningKeys;
  issuer: string;
  now: () => number;
}

const seconds = (ms: number) => Math.floor(ms / 1000);

/** JWTs, ES256, good for one project and as long as their session. */
export const createTokens = ({ keys, issuer, now }: TokenOptions) => ({
  /** @param projectId the project's public id */
  async issue(projectId: string, session: Session): Promise<string> {
    const { kid, privateKey } = await keys.signer();
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

export type Tokens = ReturnType<typeof createTokens>;
