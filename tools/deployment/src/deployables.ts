/**
 * Owns: the list of what can be deployed. The Kubernetes base is written from it; tests hold
 * docker-compose.yml and the folders of the repository against it.
 * Refuses: to deploy anything itself.
 */
import { runnableServices } from '@backlot/all-in-one';
import { ownSettingName, type ServiceName, serviceNames } from '@backlot/contract';
import { gatewaySettings } from '@backlot/gateway';
import { nodeOptionsFor, servicesBehind, settingNames } from '@backlot/service';

export interface Deployable {
  /** Of its host, Deployment and Service; a service is reached at `http://<name>:8080`. */
  name: string;
  /** Given to the image as its command, after the options for Node. */
  entry: string;
  nodeOptions: readonly string[];
  component: 'gateway' | 'service';
  /** Settings that it gets from the Secret `backlot-secrets`, where they have the same names. */
  secrets: readonly string[];
  /** The same, where every process has a value of its own under `ownSettingName`. */
  ownSecrets: readonly string[];
  /** The same where the Secret has them; what they are needed for is switched on by a setting. */
  optionalSecrets: readonly string[];
  /** Services that it asks something at once; the gateway may ask all. */
  asks: readonly string[];
  /** A claim on a volume that is mounted at `/app/files`, for all replicas together. */
  filesClaim?: string;
  /** Asked for; there is no upper limit of CPU, so that a burst is not throttled. */
  cpuMillis: number;
  /** Asked for and the upper limit. */
  memoryMib: number;
  /** How far the autoscaler goes. */
  replicas: { min: number; max: number };
}

/** What a container needs beyond the rest; a service that is not here needs nothing special. */
const special: Partial<Record<ServiceName, Partial<Deployable>>> = {
  auth: { memoryMib: 512 },
  records: { memoryMib: 768 },
  // Two processes for images (BACKLOT_IMAGE_CONCURRENCY 1), each of 645 MiB at most, and the service itself.
  storage: { memoryMib: 1536, filesClaim: 'storage-files' },
};

/** Settings that come from the Secret, and those that are in it only where something is switched on. */
const secretSettings = new Set([
  'BACKLOT_AUTH_MASTER_KEY',
  'BACKLOT_SECRETS_KEYS',
  'BACKLOT_OPERATOR_TOKEN',
]);
/** Each process has a user of its own in these servers. */
const addressSettings = ['DATABASE_URL', 'AMQP_URL', 'REDIS_URL'];
const ownSecretSettings = new Set(['BACKLOT_IDENTITY_KEYS', ...addressSettings]);
const optionalSecretSettings = new Set([
  'BACKLOT_AI_ENDPOINTS',
  'BACKLOT_S3_ACCESS_KEY_ID',
  'BACKLOT_S3_SECRET_ACCESS_KEY',
  'BACKLOT_SMTP_URL',
  'BACKLOT_SENDGRID_API_KEY',
  'BACKLOT_MAILBOX_KEY',
  'BACKLOT_GOOGLE_CLIENT_SECRET',
  'BACKLOT_GITHUB_CLIENT_SECRET',
]);

const deployable = (
  name: string,
  settings: readonly string[],
  own: Pick<Deployable, 'entry' | 'component' | 'asks'> & Partial<Deployable>,
): Deployable => ({
  name,
  nodeOptions: nodeOptionsFor(name),
  secrets: settings.filter((setting) => secretSettings.has(setting)),
  ownSecrets: settings.filter((setting) => ownSecretSettings.has(setting)),
  optionalSecrets: settings.filter((setting) => optionalSecretSettings.has(setting)),
  cpuMillis: 250,
  memoryMib: 384,
  replicas: { min: 2, max: 6 },
  ...own,
});

export const deployables: readonly Deployable[] = [
  deployable('gateway', gatewaySettings, {
    entry: 'gateway/src/main.ts',
    component: 'gateway',
    asks: serviceNames,
    cpuMillis: 500,
    memoryMib: 512,
    replicas: { min: 2, max: 10 },
  }),
  ...runnableServices.map((service) =>
    deployable(service.name, settingNames(service), {
      entry: `services/${service.name}/src/main.ts`,
      component: 'service',
      asks: servicesBehind(service.asks),
      ...special[service.name],
    }),
  ),
];

/** Keys of the Secret that hold a process's own address of a server. */
export const addressKeys: readonly string[] = deployables.flatMap(({ name, ownSecrets }) =>
  ownSecrets
    .filter((setting) => addressSettings.includes(setting))
    .map((setting) => ownSettingName(name, setting)),
);
