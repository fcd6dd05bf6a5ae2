import { createHash } from 'node:crypto';
import { ApiError, oauthRoutes, type RouteBody } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import { refusal } from '@backlot/outgoing';
import type { Sealer } from '@backlot/sealing';
import type { Selectable } from 'kysely';
import { z } from 'zod';
import type { AuthConfig } from '../config.ts';
import type { AuthProvider, DB as Tables } from '../tables.ts';
import { isKeyFile } from './apple-secret.ts';
import { findKnown, knownProviders } from './known-providers.ts';
import type { ProviderClient } from './open-id.ts';

type Choice = RouteBody<typeof oauthRoutes.setAuthProvider>;
type Row = Selectable<AuthProvider>;

const sealedClient = z.object({
  clientSecret: z.string(),
  teamId: z.string().optional(),
  keyId: z.string().optional(),
});

/** Of a short secret nothing: little else would be left to guess. */
const endOf = (secret: string) => (secret.length < 16 ? '…' : `…${secret.slice(-4)}`);
export const sealContext = (project: number, name: string) => `${project}/auth-provider/${name}`;

/** What is none names nothing, and PostgreSQL is not asked: it takes no NUL. */
const isName = (name: string) => oauthRoutes.providerName.safeParse(name).success;
const providerNotFound = () => new ApiError('not_found', 'The project has no such provider.');
const wrong = (field: string, message: string, hint?: string) =>
  new ApiError('invalid_body', `"${field}": ${message}.`, { ...(hint && { hint }) });

export interface ProviderClientsOptions {
  database: Database;
  sealer: Sealer;
  config: Pick<AuthConfig, 'publicUrl' | 'operatorClients' | 'issuersOnLoopback'>;
  now: () => number;
}

/** The clients of projects at providers, sealed, and the operator's, which count where an owner has set none. */
export const createProviderClients = (options: ProviderClientsOptions) => {
  const { database, sealer, config, now } = options;
  const queries = createQueries<Tables>(database);
  const callbackUrl = `${config.publicUrl}/api/runtime/platform/auth/oauth/callback`;

  /**
   * Providers that anybody may name have an address each: an answer that comes back to another one than that of the
   * provider which the flow is of is a mixed-up one (RFC 9700, 4.4.2).
   */
  const issuerKey = (issuer: string) =>
    createHash('sha256').update(issuer).digest('base64url').slice(0, 22);
  const callbackOf = (name: string, issuer: string) =>
    findKnown(name) ? callbackUrl : `${callbackUrl}/${issuerKey(issuer)}`;

  const findOperators = (name: string): ProviderClient | undefined => {
    const known = findKnown(name);
    const operators = config.operatorClients[name];
    if (!known || !operators) return undefined;
    const { label, issuer } = known;
    return { name, label, issuer, known, callbackUrl, ...operators };
  };

  const open = (row: Row): ProviderClient | undefined => {
    if (row.sealed === null) return undefined;
    const { project_number: project, name, label, issuer, client_id: clientId } = row;
    const secrets = sealedClient.parse(
      JSON.parse(sealer.open(row.sealed, sealContext(project, name))),
    );
    const known = findKnown(name);
    const at = callbackOf(name, issuer);
    return { name, label, issuer, clientId, known, callbackUrl: at, ...secrets };
  };

  const rows = (project: number) =>
    queries.selectFrom('auth_providers').selectAll().where('project_number', '=', project);
  const findRow = async (project: number, name: string): Promise<Row | undefined> =>
    isName(name) ? rows(project).where('name', '=', name).executeTakeFirst() : undefined;

  const present = (row: Row) => ({
    name: row.name,
    label: row.label,
    setBy: 'owner' as const,
    isOn: row.sealed !== null,
    issuer: row.issuer,
    clientId: row.sealed === null ? null : row.client_id,
    hint: row.sealed === null ? null : row.hint,
    callbackUrl: callbackOf(row.name, row.issuer),
    updatedAt: row.updated_at.toISOString(),
  });
  const presentOperators = ({ name, label, issuer }: ProviderClient) => ({
    name,
    label,
    setBy: 'operator' as const,
    isOn: true,
    issuer,
    clientId: null,
    hint: null,
    callbackUrl,
    updatedAt: null,
  });
  const operators = () =>
    Object.keys(knownProviders)
      .map(findOperators)
      .filter((client) => client !== undefined);

  /** @throws ApiError invalid_body */
  const readChoice = (name: string, choice: Choice): ProviderClient => {
    const known = findKnown(name);
    const { clientId = '', clientSecret = '', teamId, keyId } = choice;
    const issuer = choice.issuer ?? known?.issuer;
    if (issuer === undefined)
      throw wrong('issuer', 'is needed of a provider that is not known here');
    if (known && issuer !== known.issuer && !known.mayName?.test(issuer))
      throw wrong('issuer', `is known of ${name}`, 'Another one goes under another name.');
    const refused = refusal(new URL(issuer), config.issuersOnLoopback);
    if (refused !== undefined) throw wrong('issuer', refused);
    if (known?.signsSecret && isKeyFile(clientSecret) && !(teamId && keyId))
      throw wrong('keyId', 'is needed with a key file, and "teamId"');
    const label = choice.label ?? known?.label ?? name;
    const secrets = { clientSecret, ...(teamId && { teamId }), ...(keyId && { keyId }) };
    const at = callbackOf(name, issuer);
    return { name, label, issuer, clientId, known, callbackUrl: at, ...secrets };
  };

  const store = (project: number, row: Omit<Row, 'project_number' | 'updated_at'>) =>
    database.transaction(async () => {
      await database.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
        `auth-providers/${project}`,
      ]);
      const stored = { ...row, updated_at: new Date(now()) };
      await queries
        .insertInto('auth_providers')
        .values({ project_number: project, ...stored })
        .onConflict((conflict) => conflict.columns(['project_number', 'name']).doUpdateSet(stored))
        .execute();
      const all = await rows(project)
        .limit(oauthRoutes.maxAuthProviders + 1)
        .execute();
      if (all.length > oauthRoutes.maxAuthProviders)
        throw new ApiError(
          'limit_reached',
          `A project has at most ${oauthRoutes.maxAuthProviders} providers.`,
        );
      return present({ project_number: project, ...stored });
    });

  return {
    readChoice,

    /** The client that counts; undefined where nobody signs in with it. @throws SealBroken */
    async find(project: number, name: string): Promise<ProviderClient | undefined> {
      const row = await findRow(project, name);
      return row ? open(row) : findOperators(name);
    },

    /** With whom users can sign in. */
    async listOn(project: number): Promise<{ name: string; label: string }[]> {
      const set = await rows(project).orderBy('name').limit(oauthRoutes.maxAuthProviders).execute();
      const own = new Set(set.map(({ name }) => name));
      const on = [
        ...set.filter(({ sealed }) => sealed !== null),
        ...operators().filter(({ name }) => !own.has(name)),
      ];
      const order = [...Object.keys(knownProviders), ...on.map(({ name }) => name)];
      return on
        .map(({ name, label }) => ({ name, label }))
        .sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
    },

    async list(project: number) {
      const set = await rows(project).orderBy('name').limit(oauthRoutes.maxAuthProviders).execute();
      const own = new Set(set.map(({ name }) => name));
      const others = operators().filter(({ name }) => !own.has(name));
      return [...set.map(present), ...others.map(presentOperators)];
    },

    /** @throws ApiError not_found */
    async get(project: number, name: string) {
      const row = await findRow(project, name);
      if (row) return present(row);
      const operator = findOperators(name);
      if (!operator) throw providerNotFound();
      return presentOperators(operator);
    },

    /** @param client as `readChoice` has read it. @throws ApiError limit_reached */
    set: (project: number, client: ProviderClient) => {
      const { name, label, issuer, clientId, clientSecret, teamId, keyId } = client;
      const secrets = JSON.stringify({ clientSecret, teamId, keyId });
      const sealed = sealer.seal(secrets, sealContext(project, name));
      const hint = isKeyFile(clientSecret) ? (keyId ?? '') : endOf(clientSecret);
      return store(project, { name, label, issuer, client_id: clientId, sealed, hint });
    },

    /** Nobody signs in with it. @throws ApiError not_found, limit_reached */
    async switchOff(project: number, name: string) {
      const row = await findRow(project, name);
      const { label, issuer } = row ?? findKnown(name) ?? {};
      if (label === undefined || issuer === undefined) throw providerNotFound();
      return store(project, { name, label, issuer, client_id: '', sealed: null, hint: '' });
    },

    /** @throws ApiError not_found */
    async remove(project: number, name: string): Promise<void> {
      if (!isName(name)) throw providerNotFound();
      const { numDeletedRows } = await queries
        .deleteFrom('auth_providers')
        .where('project_number', '=', project)
        .where('name', '=', name)
        .executeTakeFirst();
      if (numDeletedRows === 0n) throw providerNotFound();
    },
  };
};

export type ProviderClients = ReturnType<typeof createProviderClients>;
