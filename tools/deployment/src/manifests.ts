import { longestCallMs, ownSettingName, type ServiceName } from '@backlot/contract';
import type { IDeployment } from 'kubernetes-models/apps/v1';
import type { IHorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1';
import type { IContainer, IEnvVar, IPodSpec, IProbe, IService } from 'kubernetes-models/v1';
import type { Deployable } from './deployables.ts';

export type Manifest = IDeployment | IService | IHorizontalPodAutoscaler | IPodDisruptionBudget;

const port = 8080;
const metricsPort = 9090;
/** Time for every proxy to learn that the pod is leaving. */
const leaveSeconds = 5;
const closeSeconds = 5;

/** What a process needs to stop in order: its longest call ends, then its connections. */
export const graceSeconds = ({ name, component }: Deployable): number => {
  const callsMs = component === 'gateway' ? longestCallMs() : longestCallMs(name as ServiceName);
  return Math.max(45, leaveSeconds + callsMs / 1000 + closeSeconds);
};

const labels = ({ name, component }: Deployable) => ({
  'app.kubernetes.io/name': name,
  'app.kubernetes.io/component': component,
  'app.kubernetes.io/part-of': 'backlot',
});
const selector = ({ name }: Deployable) => ({ 'app.kubernetes.io/name': name });

const originVariables = ({ asks }: Deployable): IEnvVar[] =>
  asks.map((name) => ({
    name: `BACKLOT_${name.toUpperCase()}_ORIGIN`,
    value: `http://${name}:${port}`,
  }));

const fromSecret = (name: string, key: string, optional?: true): IEnvVar => ({
  name,
  valueFrom: {
    secretKeyRef: { name: 'backlot-secrets', key, ...(optional && { optional }) },
  },
});

const environmentVariables = (deployable: Deployable): IEnvVar[] => [
  { name: 'PORT', value: String(port) },
  { name: 'BACKLOT_METRICS_PORT', value: String(metricsPort) },
  ...originVariables(deployable),
  ...deployable.secrets.map((key) => fromSecret(key, key)),
  ...deployable.ownSecrets.map((name) => fromSecret(name, ownSettingName(deployable.name, name))),
  ...deployable.optionalSecrets.map((key) => fromSecret(key, key, true)),
];

const probe = (path: string, probing: Partial<IProbe>): IProbe => ({
  httpGet: { path, port: 'http' },
  timeoutSeconds: 3,
  ...probing,
});

const toContainer = (deployable: Deployable): IContainer => ({
  name: deployable.name,
  image: 'backlot',
  args: [...deployable.nodeOptions, deployable.entry],
  ports: [
    { name: 'http', containerPort: port },
    { name: 'metrics', containerPort: metricsPort },
  ],
  envFrom: [{ configMapRef: { name: 'backlot-settings' } }],
  env: environmentVariables(deployable),
  // A process that waits for PostgreSQL lives: to start it again would help nobody.
  startupProbe: probe(deployable.component === 'gateway' ? '/healthz' : '/livez', {
    periodSeconds: 2,
    failureThreshold: 60,
  }),
  livenessProbe: probe(deployable.component === 'gateway' ? '/healthz' : '/livez', {
    periodSeconds: 10,
    failureThreshold: 6,
  }),
  // The gateway's /readyz names the services that are missing. Routing follows /healthz instead:
  // one absent service must not take the gateway away from all the others.
  readinessProbe: probe(deployable.component === 'gateway' ? '/healthz' : '/readyz', {
    periodSeconds: 5,
    failureThreshold: 2,
  }),
  lifecycle: { preStop: { sleep: { seconds: leaveSeconds } } },
  resources: {
    requests: { cpu: `${deployable.cpuMillis}m`, memory: `${deployable.memoryMib}Mi` },
    limits: { memory: `${deployable.memoryMib}Mi` },
  },
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  },
  volumeMounts: [
    { name: 'tmp', mountPath: '/tmp' },
    ...(deployable.filesClaim ? [{ name: 'files', mountPath: '/app/files' }] : []),
  ],
});

const toPod = (deployable: Deployable): IPodSpec => ({
  automountServiceAccountToken: false,
  enableServiceLinks: false,
  terminationGracePeriodSeconds: graceSeconds(deployable),
  securityContext: {
    runAsNonRoot: true,
    runAsUser: 1000,
    runAsGroup: 1000,
    ...(deployable.filesClaim && { fsGroup: 1000, fsGroupChangePolicy: 'OnRootMismatch' }),
    seccompProfile: { type: 'RuntimeDefault' },
  },
  topologySpreadConstraints: ['kubernetes.io/hostname', 'topology.kubernetes.io/zone'].map(
    (topologyKey) => ({
      maxSkew: 1,
      topologyKey,
      whenUnsatisfiable: 'ScheduleAnyway',
      labelSelector: { matchLabels: selector(deployable) },
    }),
  ),
  containers: [toContainer(deployable)],
  volumes: [
    { name: 'tmp', emptyDir: { sizeLimit: '64Mi' } },
    ...(deployable.filesClaim
      ? [{ name: 'files', persistentVolumeClaim: { claimName: deployable.filesClaim } }]
      : []),
  ],
});

const toDeployment = (deployable: Deployable): IDeployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: deployable.name, labels: labels(deployable) },
  // No `replicas`: applying again would undo what the autoscaler has chosen.
  spec: {
    revisionHistoryLimit: 5,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
    selector: { matchLabels: selector(deployable) },
    template: { metadata: { labels: labels(deployable) }, spec: toPod(deployable) },
  },
});

const toService = (deployable: Deployable): IService => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: deployable.name, labels: labels(deployable) },
  spec: {
    selector: selector(deployable),
    ports: [{ name: 'http', port, targetPort: 'http' }],
  },
});

const toAutoscaler = (deployable: Deployable): IHorizontalPodAutoscaler => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: deployable.name, labels: labels(deployable) },
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: deployable.name },
    minReplicas: deployable.replicas.min,
    maxReplicas: deployable.replicas.max,
    metrics: [
      {
        type: 'Resource',
        resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } },
      },
    ],
  },
});

const toDisruptionBudget = (deployable: Deployable): IPodDisruptionBudget => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: deployable.name, labels: labels(deployable) },
  spec: {
    maxUnavailable: 1,
    unhealthyPodEvictionPolicy: 'AlwaysAllow',
    selector: { matchLabels: selector(deployable) },
  },
});

/** Everything that one deployable is in Kubernetes. */
export const toManifests = (deployable: Deployable): Manifest[] => [
  toDeployment(deployable),
  toService(deployable),
  toAutoscaler(deployable),
  toDisruptionBudget(deployable),
];
