import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import type { Bus } from '@backlot/bus';
import type {
  CallLogDirectory,
  CreditDirectory,
  HostDirectory,
  OperatorDirectory,
  PriceChanges,
  ProjectDirectory,
  RouteDefinition,
  ServiceName,
  SessionDirectory,
  ShapeDirectory,
  UserDirectory,
} from '@backlot/contract';
import type { Counters } from '@backlot/counters';
import type { DiscardBody, Finding } from '@backlot/http';
import type { IdentityKey } from '@backlot/identity';
import type { Logger, Registry, Tracer } from '@backlot/telemetry';
import type { AddressBounds } from './addresses/address-bounds.ts';
import type { PaceBounds } from './addresses/body-pace.ts';
import type { Clock } from './addresses/refusal-pace.ts';
import type { CallLogTimes } from './call-log/call-log.ts';
import type { ServiceHealth } from './health/health.ts';
import type { Upstream } from './upstream/upstream.ts';

export interface GatewayConfig {
  /** `iss` of tokens. */
  issuer: string;
  /** SHA-256 of the operator's token in base64url; undefined when nobody operates. */
  operatorTokenHash: string | undefined;
  /** How many proxies in front write `X-Forwarded-For`. */
  trustedProxies: number;
  addressBounds: AddressBounds;
  /** Base of absolute addresses, without a slash at the end. */
  publicUrl: string;
  /** Of projects' host names, `.apps.example.com`; undefined where they have none. */
  projectHostSuffix: string | undefined;
  /** A log line for every call. */
  accessLog: boolean;
  /** Prices that differ from the contract's. */
  priceChanges: PriceChanges;
}

export interface GatewayDeps {
  upstreams: Record<ServiceName, Upstream>;
  projects: ProjectDirectory;
  sessions: SessionDirectory;
  credits: CreditDirectory;
  callLog: CallLogDirectory;
  operators: OperatorDirectory;
  hosts: HostDirectory;
  shapes: ShapeDirectory;
  /** For who is looked at by the owner. */
  users: UserDirectory;
  counters: Counters;
  bus: Bus;
  /** What it signs with for each service. */
  identityKeys: readonly IdentityKey[];
  /** Epoch milliseconds. */
  now: () => number;
  log: Logger;
  registry?: Registry;
  tracer?: Tracer | undefined;
  config: GatewayConfig;
  /** Content of openapi.json. */
  apiDescription: object;
  /** False while events may be lost; caches then keep nothing for long. */
  eventsConnected: () => boolean;
  /** How the services are; asked once a second. */
  services(): Promise<readonly ServiceHealth[]>;
  /** What the gateway itself needs: `redis`, `rabbitmq`; none in one process. */
  servers(): readonly Finding[];
  /** The contract's unless a test brings its own. */
  routes?: readonly RouteDefinition[];
  timeoutMs?: number;
  streamStalledMs?: number;
  discardBody?: DiscardBody;
  pace?: PaceBounds;
  refusalClock?: Clock;
  callLogTimes?: CallLogTimes;
}

export interface Gateway {
  app: RequestListener;
  /** Whether a connection's address may have one more; one that may not has to be closed. */
  acceptConnection(socket: Socket): boolean;
  /** Subscribes to events; before it nothing may be served. */
  start(): Promise<void>;
  /** Empties the caches of projects, keys and sessions: events may have been missed. */
  forget(): void;
  /** Ends answers that have no end: the process is told to stop. */
  drain(): void;
  stop(): Promise<void>;
}
