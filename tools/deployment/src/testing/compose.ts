import { parse } from 'yaml';
import { deployables } from '../deployables.ts';
import { fromRoot, readText } from './files.ts';

export interface ComposeService {
  image: string;
  entrypoint?: string[];
  command?: string[];
  environment?: Record<string, string | number | null>;
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { disable?: boolean; test?: string[] };
  networks?: string[];
  volumes?: string[];
  ports?: string[];
  restart?: string;
  stop_grace_period?: string;
  shm_size?: string;
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  logging?: { driver: string; options: Record<string, string> };
  deploy?: { resources: { limits: { cpus: string; memory: string } } };
}

export interface Compose {
  services: Record<string, ComposeService>;
  networks: Record<string, { internal?: boolean } | null>;
  volumes: Record<string, unknown>;
}

export const readCompose = async (): Promise<Compose> =>
  parse(await readText(fromRoot('docker-compose.yml')), { merge: true }) as Compose;

export const isOurs = ({ image }: ComposeService): boolean => image.startsWith('backlot:');

/** The image itself says how to ask for its health. */
const tellsHealth = (service: ComposeService): boolean =>
  service.healthcheck?.disable !== true &&
  (isOurs(service) || service.healthcheck?.test !== undefined);

const dependencyFaults = ({ services }: Compose, service: ComposeService): string[] =>
  Object.entries(service.depends_on ?? {}).flatMap(([other, { condition }]) => {
    const found = services[other];
    if (!found) return [`waits for ${other}, which does not exist`];
    if (condition === 'service_completed_successfully') return [];
    if (condition !== 'service_healthy') return [`does not wait until ${other} is healthy`];
    return tellsHealth(found) ? [] : [`waits for the health of ${other}, which tells none`];
  });

const secretName = /(SECRET|TOKEN|PASSWORD|PASS|MASTER_KEY|_KEYS|DATABASE_URL|AMQP_URL)$/;

const serviceFaults = (compose: Compose, service: ComposeService): string[] => {
  const faults: [boolean, string][] = [
    [!/:v?\d|:\$\{BACKLOT_IMAGE_TAG/.test(service.image), `image ${service.image} is not pinned`],
    [service.restart === undefined, 'does not say when it starts again'],
    [service.deploy?.resources.limits.memory === undefined, 'has no memory limit'],
    [service.deploy?.resources.limits.cpus === undefined, 'has no limit of CPU'],
    [service.read_only !== true, 'may write to its root'],
    [!service.cap_drop?.includes('ALL'), 'keeps capabilities'],
    [!service.security_opt?.includes('no-new-privileges:true'), 'may gain privileges'],
    [service.logging?.options['max-size'] === undefined, 'keeps all its logs'],
  ];
  const secrets = Object.entries(service.environment ?? {}).filter(
    ([name, value]) =>
      secretName.test(name) && value !== null && !/\$\{[A-Z_]+:\?/.test(String(value)),
  );
  const volumes = (service.volumes ?? []).map((volume) => volume.split(':')[0] ?? '');
  return [
    ...faults.filter(([wrong]) => wrong).map(([, fault]) => fault),
    ...dependencyFaults(compose, service),
    ...secrets.map(([name]) => `${name} does not come from .env`),
    ...volumes
      .filter((volume) => !(volume in compose.volumes))
      .map((volume) => `no volume ${volume}`),
    ...(service.networks ?? [])
      .filter((network) => !(network in compose.networks))
      .map((network) => `no network ${network}`),
  ];
};

/** What the schema of compose cannot see. */
export const composeFaults = (compose: Compose): string[] => {
  const published = Object.entries(compose.services).filter(([, { ports }]) => ports?.length);
  const exposed = published
    .filter(([name]) => !/^gateway(-\d)?$/.test(name))
    .filter(([, { ports = [] }]) => ports.some((port) => !port.startsWith('127.0.0.1:')))
    .map(([name]) => name);
  const missing = deployables.filter(
    ({ name, entry, nodeOptions }) =>
      compose.services[name]?.command?.join() !== [...nodeOptions, entry].join(),
  );
  return [
    ...Object.entries(compose.services).flatMap(([name, service]) =>
      serviceFaults(compose, service).map((fault) => `${name}: ${fault}`),
    ),
    ...exposed.map((name) => `${name}: is published`),
    ...missing.map(({ name }) => `${name}: is not there, or runs something else`),
  ];
};
