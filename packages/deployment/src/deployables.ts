/**
 * Owns: the list of what can be deployed. The Kubernetes base is written from it; tests hold
 * docker-compose.yml and the folders of the repository against it.
 * Refuses: to deploy anything itself.
 */

export interface Deployable {
  /** Of its host, Deployment and Service; a service is reached at `http://<name>:8080`. */
  name: string;
  /** Given to the image as its command, after the options for Node. */
  entry: string;
  nodeOptions: readonly string[];
  component: 'gateway' | 'service';
  /** Keys of the Secret `backlot-secrets` that it gets, under the same names. */
  secrets: readonly string[];
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

interface Own {
  nodeOptions?: readonly string[];
  secrets?: readonly string[];
  optionalSecrets?: readonly string[];
  asks?: readonly string[];
  filesClaim?: string;
}

const service = (name: string, memoryMib: number, own: Own = {}): Deployable => ({
  name,
  entry: `services/${name}/src/main.ts`,
  nodeOptions: own.nodeOptions ?? [],
  component: 'service',
  secrets: ['DATABASE_URL', 'AMQP_URL', 'BACKLOT_IDENTITY_SECRET', ...(own.secrets ?? [])],
  optionalSecrets: own.optionalSecrets ?? [],
  asks: own.asks ?? [],
  ...(own.filesClaim === undefined ? {} : { filesClaim: own.filesClaim }),
  cpuMillis: 250,
  memoryMib,
  replicas: { min: 2, max: 6 },
});

/**
 * V8 leaves garbage lying by how much memory the machine has. 2,400 calls of `/ai` took 304 MiB on one
 * of 24 GiB where 41 were alive, with this new space 193; 32 uploads at once to S3 took storage 65 MiB
 * more than one, with it 38.
 */
const newSpace = '--max-semi-space-size=4';
/** The old space is what V8 takes in a container of 384 MiB. */
const nodeOptions = [newSpace, '--max-old-space-size=256'];

export const deployables: readonly Deployable[] = [
  {
    name: 'gateway',
    entry: 'gateway/src/main.ts',
    nodeOptions: [],
    component: 'gateway',
    secrets: ['REDIS_URL', 'AMQP_URL', 'BACKLOT_IDENTITY_SECRET', 'BACKLOT_OPERATOR_TOKEN'],
    optionalSecrets: [],
    asks: ['auth', 'records', 'ai', 'storage', 'email', 'payments', 'projects'],
    cpuMillis: 500,
    memoryMib: 512,
    replicas: { min: 2, max: 10 },
  },
  service('auth', 512, { secrets: ['BACKLOT_AUTH_MASTER_KEY'] }),
  service('records', 768),
  service('ai', 384, {
    nodeOptions,
    secrets: ['BACKLOT_SECRETS_KEYS'],
    optionalSecrets: ['BACKLOT_AI_ENDPOINTS'],
  }),
  service('storage', 768, {
    nodeOptions: [newSpace],
    secrets: ['BACKLOT_SECRETS_KEYS'],
    optionalSecrets: ['BACKLOT_S3_ACCESS_KEY_ID', 'BACKLOT_S3_SECRET_ACCESS_KEY'],
    filesClaim: 'storage-files',
  }),
  service('email', 384, {
    nodeOptions,
    optionalSecrets: ['BACKLOT_SMTP_URL', 'BACKLOT_SENDGRID_API_KEY'],
    asks: ['auth', 'projects'],
  }),
  service('payments', 384, {
    secrets: ['BACKLOT_SECRETS_KEYS'],
    asks: ['projects'],
  }),
  service('projects', 384, { secrets: ['REDIS_URL'] }),
];
