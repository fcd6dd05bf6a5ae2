import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import type { IContainer, IPodTemplateSpec, IService } from 'kubernetes-models/v1';
import type { Manifest } from './kustomize.ts';

/** serve() of packages/http lets calls under way finish for this long. */
const drainSeconds = 10;

type Labels = Record<string, string>;
interface Workload {
  name: string;
  labels: Labels;
  selector: Labels | undefined;
  template: IPodTemplateSpec;
  containers: IContainer[];
}

const matches = (selector: Labels | undefined, labels: Labels) =>
  Object.entries(selector ?? {}).every(([key, value]) => labels[key] === value);

const findWorkloads = (manifests: readonly Manifest[]): Workload[] =>
  manifests
    .filter(({ kind }) => ['Deployment', 'StatefulSet', 'Job'].includes(kind))
    .map(({ metadata, spec }) => {
      const { template, selector } = spec as {
        template: IPodTemplateSpec;
        selector?: { matchLabels: Labels };
      };
      return {
        name: metadata.name,
        labels: template.metadata?.labels ?? {},
        selector: selector?.matchLabels,
        template,
        containers: template.spec?.containers ?? [],
      };
    });

const hasPort = ({ containers }: Workload, port: string | number | undefined) =>
  containers.some(({ ports = [] }) =>
    ports.some(({ name, containerPort }) => port === name || port === containerPort),
  );

const selectorFaults = (manifests: readonly Manifest[], workloads: Workload[]): string[] =>
  manifests.flatMap(({ kind, metadata, spec }) => {
    const where = `${kind} ${metadata.name}`;
    if (kind === 'HorizontalPodAutoscaler') {
      const { scaleTargetRef } = spec as { scaleTargetRef: { kind: string; name: string } };
      const found = manifests.some(
        (manifest) =>
          manifest.kind === scaleTargetRef.kind && manifest.metadata.name === scaleTargetRef.name,
      );
      return found ? [] : [`${where}: scales nothing`];
    }
    if (kind === 'PodDisruptionBudget') {
      const { selector } = spec as { selector: { matchLabels: Labels } };
      const found = workloads.some(({ labels }) => matches(selector.matchLabels, labels));
      return found ? [] : [`${where}: guards nothing`];
    }
    if (kind !== 'Service') return [];
    const { selector, ports = [] } = spec as NonNullable<IService['spec']>;
    const behind = workloads.filter(({ labels }) => matches(selector, labels));
    if (behind.length === 0) return [`${where}: nothing is behind it`];
    return ports.flatMap(({ port, targetPort }) =>
      behind.every((workload) => hasPort(workload, targetPort ?? port))
        ? []
        : [`${where}: no port ${targetPort} behind it`],
    );
  });

const policyFaults = (manifests: readonly Manifest[], workloads: Workload[]): string[] =>
  manifests
    .filter(({ kind }) => kind === 'NetworkPolicy')
    .flatMap(({ metadata, spec }) => {
      const where = `NetworkPolicy ${metadata.name}`;
      const {
        podSelector,
        ingress = [],
        egress = [],
      } = spec as NonNullable<INetworkPolicy['spec']>;
      const select = (labels: Labels | undefined) =>
        workloads.filter((workload) => matches(labels, workload.labels));
      const guarded = select(podSelector?.matchLabels);
      const peers = [
        ...ingress.flatMap((rule) => rule.from ?? []),
        ...egress.flatMap((rule) => rule.to ?? []),
      ];
      const inside = peers.filter((peer) => peer.podSelector && !peer.namespaceSelector);
      const portFaults = [
        ...ingress.flatMap(({ ports = [] }) =>
          ports.filter(({ port }) => !guarded.some((workload) => hasPort(workload, port))),
        ),
        ...egress.flatMap(({ ports = [], to = [] }) => {
          const targets = to
            .filter((peer) => peer.podSelector && !peer.namespaceSelector)
            .flatMap((peer) => select(peer.podSelector?.matchLabels));
          if (targets.length === 0) return [];
          return ports.filter(({ port }) => !targets.some((target) => hasPort(target, port)));
        }),
      ];
      return [
        ...(guarded.length === 0 ? [`${where}: guards nothing`] : []),
        ...inside
          .filter((peer) => select(peer.podSelector?.matchLabels).length === 0)
          .map((peer) => `${where}: nothing is ${JSON.stringify(peer.podSelector?.matchLabels)}`),
        ...portFaults.map(({ port }) => `${where}: nobody has the port ${port}`),
      ];
    });

const containerFaults = (workload: Workload, container: IContainer): string[] => {
  const { image = '', volumeMounts = [], securityContext = {}, lifecycle } = container;
  const { volumes = [], terminationGracePeriodSeconds = 30 } = workload.template.spec ?? {};
  const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe];
  const leaving = (lifecycle?.preStop?.sleep?.seconds ?? 0) + drainSeconds;
  const claims = volumeMounts.filter(
    ({ name }) => name !== 'data' && !volumes.some((volume) => volume.name === name),
  );
  const faults: [boolean, string][] = [
    [!/:[\w.-]*\d|:local$/.test(image), `image ${image} is not pinned`],
    [claims.length > 0, 'mounts a volume that does not exist'],
    [
      probes.some((probe) => probe?.httpGet && !hasPort(workload, probe.httpGet.port)),
      'a probe asks at a port that it does not have',
    ],
    [terminationGracePeriodSeconds <= leaving, 'is killed before it has drained'],
    [container.resources?.limits?.memory === undefined, 'has no memory limit'],
    [securityContext.allowPrivilegeEscalation !== false, 'may gain privileges'],
    [!securityContext.capabilities?.drop?.includes('ALL'), 'keeps capabilities'],
    [securityContext.readOnlyRootFilesystem !== true, 'may write to its root'],
  ];
  return faults.filter(([wrong]) => wrong).map(([, fault]) => `${workload.name}: ${fault}`);
};

const workloadFaults = (workload: Workload): string[] => {
  const { securityContext } = workload.template.spec ?? {};
  return [
    ...(matches(workload.selector, workload.labels)
      ? []
      : [`${workload.name}: its selector does not match its pods`]),
    ...(securityContext?.runAsNonRoot === true ? [] : [`${workload.name}: may run as root`]),
    ...(securityContext?.seccompProfile?.type === 'RuntimeDefault'
      ? []
      : [`${workload.name}: has no seccomp profile`]),
    // It would also open the cookie of RabbitMQ to its group, with which RabbitMQ does not start.
    ...(securityContext?.fsGroup === undefined ||
    securityContext.fsGroupChangePolicy === 'OnRootMismatch'
      ? []
      : [`${workload.name}: changes the mode of all its files at each start`]),
    ...workload.containers.flatMap((container) => containerFaults(workload, container)),
  ];
};

/** @param settings names that may be asked of the Secret and stand in the ConfigMap */
const referenceFaults = (
  manifests: readonly Manifest[],
  workloads: Workload[],
  settings: readonly string[],
): string[] => {
  const maps = manifests.filter(({ kind }) => kind === 'ConfigMap');
  const strangers = maps.flatMap(({ data }) =>
    Object.keys(data as Labels).filter((name) => !settings.includes(name)),
  );
  const references = workloads.flatMap(({ name, containers }) =>
    containers.flatMap(({ env = [], envFrom = [] }) => [
      ...envFrom
        .filter(({ configMapRef }) => !maps.some((map) => map.metadata.name === configMapRef?.name))
        .map(({ configMapRef }) => `${name}: no ConfigMap ${configMapRef?.name}`),
      ...env.flatMap((variable) => {
        const { name: secret, key } = variable.valueFrom?.secretKeyRef ?? {};
        if (key === undefined) return [];
        const known = secret === 'backlot-secrets' && settings.includes(key);
        return known ? [] : [`${name}: nobody explains the secret ${secret}.${key}`];
      }),
    ]),
  );
  const secrets = manifests.filter(({ kind }) => kind === 'Secret');
  return [
    ...strangers.map((name) => `ConfigMap: nobody explains ${name}`),
    ...references,
    ...secrets.map(({ metadata }) => `Secret ${metadata.name}: holds what belongs to the cluster`),
  ];
};

/** What a schema cannot see: whatever one manifest says of another must be so. */
export const crossFaults = (
  manifests: readonly Manifest[],
  settings: readonly string[],
): string[] => {
  const workloads = findWorkloads(manifests);
  return [
    ...selectorFaults(manifests, workloads),
    ...policyFaults(manifests, workloads),
    ...workloads.flatMap(workloadFaults),
    ...referenceFaults(manifests, workloads, settings),
  ];
};
