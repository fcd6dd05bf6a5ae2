import { createHash, randomBytes } from 'node:crypto';
import { ApiError } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import type { Sealer } from '@backlot/sealing';
import type { Selectable } from 'kysely';
import { z } from 'zod';
import type { OauthCode, OauthFlow, DB as Tables } from '../tables.ts';
import type { FlowSecrets, ProviderClient } from './open-id.ts';
import type { ProvedIdentity } from './profiles.ts';

const stateMs = 10 * 60 * 1000;
const codeMs = 60 * 1000;
const tokenBytes = 32;

const flowSecrets = z.object({ verifier: z.string(), nonce: z.string() });
const digest = (token: string) => createHash('sha256').update(token).digest();
const newToken = () => randomBytes(tokenBytes).toString('base64url');
export const sealContext = (stateHash: Buffer) => `oauth/${stateHash.toString('base64')}`;

/** What an app has asked for. */
export interface OauthRequest {
  challenge: string;
  returnTo: string;
  isPopup: boolean;
}

export type Flow = Selectable<OauthFlow>;
export type VouchedCode = Selectable<OauthCode>;

/** The state names the project whose flow it is: all projects have one callback. */
export const readState = (state: string): { projectId: string } | undefined => {
  const [projectId, token, ...rest] = state.split('.');
  return projectId && token && rest.length === 0 ? { projectId } : undefined;
};

export const usedCode = () =>
  new ApiError('invalid_link', 'This code was used already or has expired. Begin again.', {
    hint: 'A code is good for 60 seconds, once, with the verifier whose challenge began the sign-in.',
  });

/** Whether the app that sends the verifier is the one that has begun (RFC 7636). */
export const isVerifierOf = (challenge: string, verifier: string): boolean =>
  createHash('sha256').update(verifier).digest('base64url') === challenge;

export interface FlowsOptions {
  database: Database;
  sealer: Sealer;
  now: () => number;
}

/** Ways to providers and back; each step is taken once, whoever else tries at the same time. */
export const createFlows = ({ database, sealer, now }: FlowsOptions) => {
  const queries = createQueries<Tables>(database);
  const liveCode = (project: number, code: string) =>
    queries
      .selectFrom('oauth_codes')
      .selectAll()
      .where('project_number', '=', project)
      .where('code_hash', '=', digest(code))
      .where('expires_at', '>', new Date(now()));

  /** Answers whether there was such a one. */
  const endCode = async (project: number, code: string): Promise<boolean> => {
    const { numDeletedRows } = await queries
      .deleteFrom('oauth_codes')
      .where('project_number', '=', project)
      .where('code_hash', '=', digest(code))
      .where('expires_at', '>', new Date(now()))
      .executeTakeFirst();
    return numDeletedRows > 0n;
  };

  return {
    newState: (projectId: string): string => `${projectId}.${newToken()}`,

    async begin(
      project: number,
      { name, clientId }: Pick<ProviderClient, 'name' | 'clientId'>,
      state: string,
      { challenge, returnTo, isPopup, secrets }: OauthRequest & { secrets: FlowSecrets },
    ): Promise<void> {
      const stateHash = digest(state);
      await queries
        .insertInto('oauth_flows')
        .values({
          project_number: project,
          state_hash: stateHash,
          provider: name,
          client_id: clientId,
          challenge,
          return_to: returnTo,
          is_popup: isPopup,
          sealed: sealer.seal(JSON.stringify(secrets), sealContext(stateHash)),
          expires_at: new Date(now() + stateMs),
        })
        .execute();
    },

    /** For the one who comes first; undefined where the state is none, was used or is over. */
    async take(
      project: number,
      state: string,
    ): Promise<(Flow & { secrets: FlowSecrets }) | undefined> {
      const flow = await queries
        .deleteFrom('oauth_flows')
        .where('project_number', '=', project)
        .where('state_hash', '=', digest(state))
        .where('expires_at', '>', new Date(now()))
        .returningAll()
        .executeTakeFirst();
      if (!flow) return undefined;
      const opened = sealer.open(flow.sealed, sealContext(flow.state_hash));
      return { ...flow, secrets: flowSecrets.parse(JSON.parse(opened)) };
    },

    /** The code by which the app learns whom the provider has vouched for. */
    async vouch(
      flow: Flow,
      { name, label }: Pick<ProviderClient, 'name' | 'label'>,
      identity: ProvedIdentity,
    ): Promise<string> {
      const code = newToken();
      await queries
        .insertInto('oauth_codes')
        .values({
          project_number: flow.project_number,
          code_hash: digest(code),
          challenge: flow.challenge,
          provider: name,
          label,
          issuer: identity.issuer,
          subject: identity.subject,
          email: identity.email,
          email_verified: identity.emailVerified,
          name: identity.name,
          expires_at: new Date(now() + codeMs),
        })
        .execute();
      return code;
    },

    /**
     * Whom the code vouches for, to the app alone that has begun: a wrong verifier ends it.
     * @throws ApiError invalid_link
     */
    async readCode(
      project: number,
      { code, verifier }: { code: string; verifier: string },
    ): Promise<VouchedCode> {
      const vouched = await liveCode(project, code).executeTakeFirst();
      if (!vouched) throw usedCode();
      if (isVerifierOf(vouched.challenge, verifier)) return vouched;
      await endCode(project, code);
      throw usedCode();
    },

    /**
     * One of several parallel calls succeeds. Belongs into the transaction of what the code allows.
     * @throws ApiError invalid_link
     */
    async useCode(project: number, code: string): Promise<void> {
      if (!(await endCode(project, code))) throw usedCode();
    },
  };
};

export type Flows = ReturnType<typeof createFlows>;
