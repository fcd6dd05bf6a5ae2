import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { IIngress, INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import type { IService } from 'kubernetes-models/v1';
import { parseAllDocuments } from 'yaml';
import { addressKeys, deployables } from './deployables.ts';
import { generatedFiles } from './generate.ts';
import { ownSecretNames } from './secrets.ts';
import { crossFaults } from './testing/cross-checks.ts';
import { fromRoot, readText, settingsExplained } from './testing/files.ts';
import { type Manifest, render } from './testing/kustomize.ts';
import { wrongFields } from './testing/schemas.ts';

const byName = (one: Manifest, other: Manifest) =>
  `${one.kind}/${one.metadata.name}`.localeCompare(`${other.kind}/${other.metadata.name}`);

/** What the real tool makes of an overlay, on a machine that has it. */
const renderedByKubectl = async (folder: string): Promise<Manifest[] | undefined> => {
  try {
    const { stdout } = await promisify(execFile)('kubectl', ['kustomize', folder], {
      maxBuffer: 16 * 1024 * 1024,
    });
    return parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

it('the generated base is up to date', async () => {
  const folder = fromRoot('k8s/base/deployables');
  const files = generatedFiles();
  expect((await readdir(folder)).sort()).toEqual([...files.keys()].sort());
  for (const [name, text] of files) expect(await readText(`${folder}/${name}`)).toBe(text);
});

describe.each(['local', 'production'])('the overlay %s', (overlay) => {
  const folder = fromRoot('k8s/overlays', overlay);
  let manifests: Manifest[];
  let settings: string[];
  beforeAll(async () => {
    manifests = await render(folder);
    settings = [...(await settingsExplained()), ...addressKeys, ...ownSecretNames];
  });

  it('renders as kubectl renders it, where the machine has one', async () => {
    const reference = (await renderedByKubectl(folder)) ?? manifests;
    expect([...manifests].sort(byName)).toEqual([...reference].sort(byName));
  });

  it('keeps to the Kubernetes schemas, unknown fields refused', async () => {
    expect(await wrongFields(manifests)).toEqual([]);
  });

  it('refers to nothing that is not there', () => {
    expect(crossFaults(manifests, settings)).toEqual([]);
    const names = manifests.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
  });

  it('holds a Deployment, Service, autoscaler and disruption budget of every deployable', () => {
    for (const { name } of deployables) {
      const kinds = manifests.filter(({ metadata }) => metadata.name === name).map((m) => m.kind);
      expect(kinds).toEqual(
        expect.arrayContaining([
          'Deployment',
          'Service',
          'HorizontalPodAutoscaler',
          'PodDisruptionBudget',
        ]),
      );
    }
  });

  it('refuses everything that no policy allows', () => {
    const denied = manifests.find(({ metadata }) => metadata.name === 'default-deny');
    expect(denied?.spec).toEqual({ podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
  });

  it('lets services ask those that they ask, and no others', () => {
    const services = deployables.filter(({ name, asks }) => name !== 'gateway' && asks.length > 0);
    const chosen = (policy: string) => {
      const found = manifests.find(({ metadata }) => metadata.name === policy);
      const spec = found?.spec as INetworkPolicy['spec'];
      return spec?.podSelector?.matchExpressions?.[0]?.values;
    };
    expect(chosen('services-that-ask')).toEqual(services.map(({ name }) => name).sort());
    const asked = new Set(services.flatMap(({ asks }) => asks));
    expect(chosen('asked-by-services')).toEqual([...asked].sort());
  });
});

it('the ingress of production leads each of its names, with TLS, to a port of the gateway', async () => {
  const manifests = await render(fromRoot('k8s/overlays/production'));
  const ingress = manifests.find(({ kind }) => kind === 'Ingress');
  const service = manifests.find((m) => m.kind === 'Service' && m.metadata.name === 'gateway');
  const { rules = [], tls = [] } = (ingress?.spec ?? {}) as NonNullable<IIngress['spec']>;
  const names = rules.map(({ host }) => host ?? '');
  expect(names).toHaveLength(2);
  expect(tls.flatMap(({ hosts = [] }) => hosts)).toEqual(names);
  const backends = rules.flatMap(({ http }) => http?.paths.map(({ backend }) => backend) ?? []);
  const { ports = [] } = (service?.spec ?? {}) as NonNullable<IService['spec']>;
  const port = { name: ports[0]?.name };
  expect(backends).toEqual(names.map(() => ({ service: { name: 'gateway', port } })));
});

describe('the checks themselves', () => {
  let manifests: Manifest[];
  let settings: string[];
  beforeAll(async () => {
    manifests = await render(fromRoot('k8s/overlays/local'));
    settings = [...(await settingsExplained()), ...addressKeys, ...ownSecretNames];
  });

  /** The same manifests, with `from` replaced by `to` in the one named. */
  const broken = (name: string, from: string, to: string): Manifest[] =>
    manifests.map((manifest) => {
      if (`${manifest.kind}/${manifest.metadata.name}` !== name) return manifest;
      const text = JSON.stringify(manifest);
      if (!text.includes(from)) throw new Error(`${name} does not hold ${from}`);
      return JSON.parse(text.replace(from, to)) as Manifest;
    });

  it.each([
    ['an unknown field', 'Deployment/auth', '"livenessProbe"', '"livenesProbe"', 'livenesProbe'],
    ['an unknown field far down', 'Deployment/auth', '"drop"', '"dropp"', 'dropp'],
    ['a text for a number', 'Service/auth', '"port":8080', '"port":"8080"', 'port'],
    [
      'a fraction',
      'HorizontalPodAutoscaler/auth',
      '"maxReplicas":2',
      '"maxReplicas":2.5',
      'integer',
    ],
    ['a missing field', 'Deployment/auth', '"selector"', '"paused"', 'selector'],
  ])('the schemas refuse %s', async (_what, name, from, to, named) => {
    expect(JSON.stringify(await wrongFields(broken(name, from, to)))).toContain(named);
  });

  const own = '"app.kubernetes.io/name":"auth"';
  it.each([
    ['Service/auth', `"selector":{${own}`, '"selector":{"a":"b"', 'nothing is behind it'],
    ['Service/auth', '"targetPort":"http"', '"targetPort":"https"', 'no port https'],
    [
      'PodDisruptionBudget/auth',
      `"matchLabels":{${own}`,
      '"matchLabels":{"a":"b"',
      'guards nothing',
    ],
    [
      'HorizontalPodAutoscaler/auth',
      '"kind":"Deployment"',
      '"kind":"StatefulSet"',
      'scales nothing',
    ],
    ['NetworkPolicy/redis', '"redis"}', '"valkey"}', 'guards nothing'],
    ['NetworkPolicy/redis', '"gateway"', '"door"', 'nothing is'],
    ['NetworkPolicy/redis', '6379', '6378', 'nobody has the port 6378'],
    ['NetworkPolicy/gateway-to-data', '6379', '6378', 'nobody has the port 6378'],
    ['Deployment/auth', `"matchLabels":{${own}`, '"matchLabels":{"a":"b"', 'does not match'],
    ['Deployment/auth', '"backlot:local"', '"backlot"', 'is not pinned'],
    ['Deployment/auth', '"backlot:local"', '"backlot:latest"', 'is not pinned'],
    ['Deployment/auth', '"port":"http"', '"port":"https"', 'a probe asks'],
    [
      'Deployment/auth',
      '"terminationGracePeriodSeconds":45',
      '"terminationGracePeriodSeconds":15',
      'is killed',
    ],
    ['Deployment/auth', '"runAsNonRoot":true', '"runAsNonRoot":false', 'may run as root'],
    ['StatefulSet/rabbitmq', '"OnRootMismatch"', '"Always"', 'changes the mode of all its files'],
    ['Deployment/storage', '"OnRootMismatch"', '"Always"', 'changes the mode of all its files'],
    [
      'Deployment/auth',
      '"readOnlyRootFilesystem":true',
      '"readOnlyRootFilesystem":false',
      'may write',
    ],
    ['Deployment/auth', '"name":"tmp","mountPath"', '"name":"temp","mountPath"', 'a volume'],
    ['Deployment/auth', '"limits"', '"limit"', 'no memory limit'],
    [
      'Deployment/auth',
      '"key":"BACKLOT_AUTH_AMQP_URL"',
      '"key":"BACKLOT_AUTH_AMPQ_URL"',
      'AMPQ_URL',
    ],
    ['Deployment/auth', '"name":"backlot-settings"', '"name":"settings"', 'no ConfigMap settings'],
    ['ConfigMap/backlot-settings', 'BACKLOT_LOG_LEVEL', 'BACKLOT_LOGLEVEL', 'BACKLOT_LOGLEVEL'],
  ])('the cross checks find, in %s, %s turned into %s', (name, from, to, fault) => {
    expect(crossFaults(broken(name, from, to), settings).join('\n')).toContain(fault);
  });
});
