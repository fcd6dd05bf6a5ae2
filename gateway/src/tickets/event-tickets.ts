import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError, type RouteDefinition, recordRoutes } from '@backlot/contract';
import type { Counters } from '@backlot/counters';
import { deriveOwnKeys, type IdentityKey } from '@backlot/identity';
import { createSealer, SealBroken } from '@backlot/sealing';
import type { GatewayProject } from '../directory/gateway-project.ts';
import { type Credential, readBearer } from '../steps/caller/authenticate.ts';

const { openEvents, eventTicketTtlMs, maxEventTicketLength } = recordRoutes;
const definition = recordRoutes.createEventTicket;

/** A use is remembered for longer than any clock lets its ticket live. */
const usedForMs = 2 * eventTicketTtlMs;

/**
 * Takes a parameter out of a query, in each spelling of its name; undefined where it is not there.
 * @param search with its question mark, or empty
 */
const takeFromSearch = (
  search: string,
  name: string,
): { values: string[]; search: string } | undefined => {
  const values: string[] = [];
  const rest = search
    .slice(1)
    .split('&')
    .filter((pair) => {
      const [found] = new URLSearchParams(`&${pair}`);
      if (found?.[0] !== name) return true;
      values.push(found[1]);
      return false;
    });
  if (values.length === 0) return undefined;
  return { values, search: rest.length > 0 ? `?${rest.join('&')}` : '' };
};

export interface PresentedTicket {
  /** Of whoever asked for the ticket. */
  credential: Credential;
  /** The call's query without the ticket, which no service sees. */
  search: string;
  /** Once for each ticket, however many gateways there are. @throws ApiError invalid_token, unavailable */
  use(): Promise<void>;
}

export interface EventTickets {
  /** Answers `createEventTicket`, of a caller who may call it. */
  answer(req: IncomingMessage, res: ServerResponse, project: GatewayProject): void;
  /**
   * The ticket that a call of `openEvents` brings; undefined where it brings none.
   * @throws ApiError invalid_token, invalid_query
   */
  read(
    req: Credential,
    definition: RouteDefinition,
    project: GatewayProject,
    search: string,
  ): PresentedTicket | undefined;
}

const refused = (message: string) =>
  new ApiError('invalid_token', message, {
    hint: 'POST /events/ticket gives another: it opens GET /events once, within 60 seconds.',
  });

const toContext = ({ number }: GatewayProject) => `event ticket of project ${number}`;

export interface EventTicketsDeps {
  identityKeys: readonly IdentityKey[];
  counters: Counters;
  /** Epoch milliseconds. */
  now: () => number;
  /** False while each gateway counts for itself. */
  isCountShared: () => boolean;
}

/** Tickets hold the credential of who asked, sealed: each use is judged by it as a call with it would be. */
export const createEventTickets = (deps: EventTicketsDeps): EventTickets => {
  const { identityKeys, counters, now, isCountShared } = deps;
  const keys = deriveOwnKeys(identityKeys, 'records', 'event tickets');
  const sealer = createSealer(keys.map((key) => key.export()));

  /** @throws ApiError invalid_token */
  const open = (sealed: Buffer, project: GatewayProject): string => {
    try {
      return sealer.open(sealed, toContext(project));
    } catch (cause) {
      if (!(cause instanceof SealBroken)) throw cause;
      throw refused('This is no ticket of this project.');
    }
  };

  const use = async (sealed: Buffer, project: GatewayProject) => {
    const name = hash('sha256', sealed, 'base64url');
    const key = `${project.admission.read.callerKeyPrefix}ticket:${name}`;
    const { allowed } = await counters.admit([{ key, limit: 1, windowMs: usedForMs }]);
    if (!allowed) throw refused('This ticket was used before.');
    if (!isCountShared())
      throw new ApiError(
        'unavailable',
        'Tickets can not be checked right now. Try again shortly.',
        {
          retryAfterSeconds: 2,
        },
      );
  };

  return {
    answer(req, res, project) {
      const expiresAtMs = now() + eventTicketTtlMs;
      const sealed = sealer.seal(`${expiresAtMs} ${readBearer(req)}`, toContext(project));
      const body = Buffer.from(
        JSON.stringify({
          ticket: sealed.toString('base64url'),
          expiresAt: new Date(expiresAtMs).toISOString(),
        }),
      );
      res.writeHead(definition.status, {
        'Content-Type': 'application/json; charset=utf-8',
        'Content-Length': body.length,
        'Cache-Control': 'no-store',
      });
      res.end(body);
    },
    read(req, { operationId }, project, search) {
      if (operationId !== openEvents.operationId) return undefined;
      const taken = takeFromSearch(search, 'ticket');
      if (!taken) return undefined;
      const [text = '', ...more] = taken.values;
      if (more.length > 0) throw new ApiError('invalid_query', '"ticket" may come once.');
      if (req.headers.authorization !== undefined)
        throw new ApiError('invalid_query', 'Send a ticket or the header Authorization, not both.');
      const sealed = Buffer.from(text.slice(0, maxEventTicketLength), 'base64url');
      const [expiresAtMs, token] = open(sealed, project).split(' ');
      if (Number(expiresAtMs) <= now()) throw refused('This ticket has expired.');
      return {
        credential: { headers: { authorization: `Bearer ${token}` } },
        search: taken.search,
        use: () => use(sealed, project),
      };
    },
  };
};
