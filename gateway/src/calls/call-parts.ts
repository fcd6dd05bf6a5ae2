import type { UserDirectory } from '@backlot/contract';
import type { Counters } from '@backlot/counters';
import type { createAddresses } from '../addresses/addresses.ts';
import type { createAdmit } from '../admission/admit.ts';
import type { CachedSessions } from '../directory/cached-sessions.ts';
import type { Documents } from '../documents/documents.ts';
import type { GatewayConfig } from '../gateway-deps.ts';
import type { HealthLooks } from '../health/health.ts';
import type { Mcp } from '../mcp/mcp.ts';
import type { FindRoute } from '../routing/find-route.ts';
import type { Authenticate, Credential } from '../steps/caller/authenticate.ts';
import type { Forward } from '../steps/forward/forward.ts';
import type { createOpenStreams } from '../steps/forward/open-streams.ts';
import type { createReadAhead } from '../steps/forward/read-ahead.ts';
import type { createSignIdentity } from '../steps/forward/sign-identity.ts';
import type { createObserve } from '../steps/observe/observe.ts';
import type { TraceCalls } from '../steps/observe/trace-calls.ts';
import type { FindProject } from '../steps/project/find-project.ts';
import type { EventTickets } from '../tickets/event-tickets.ts';

/** What a call of the API goes through. */
export interface CallParts extends ReturnType<typeof createAdmit> {
  config: GatewayConfig;
  addresses: ReturnType<typeof createAddresses>;
  counters: Counters;
  observe: ReturnType<typeof createObserve>;
  traces: TraceCalls;
  findProject: FindProject;
  findRoute: FindRoute;
  /** Whether the call bears the operator's token of the configuration. */
  bearsBootstrap(req: Credential): boolean;
  authenticate: Authenticate;
  sessions: CachedSessions;
  users: UserDirectory;
  readAhead: ReturnType<typeof createReadAhead>;
  documents: Documents;
  tickets: EventTickets;
  health: HealthLooks;
  mcp: Pick<Mcp, 'answer'>;
  streams: ReturnType<typeof createOpenStreams>;
  signIdentity: ReturnType<typeof createSignIdentity>;
  forward: Forward;
  /** Epoch milliseconds. */
  now: () => number;
}
