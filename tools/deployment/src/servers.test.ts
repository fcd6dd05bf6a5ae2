import { mostConnections, scanConnections } from '@backlot/database';
import { describe, expect, it } from '@jest/globals';
import { deployables } from './deployables.ts';
import { readCompose } from './testing/compose.ts';
import { fromRoot } from './testing/files.ts';
import { type Manifest, render } from './testing/kustomize.ts';

/** Of the migration and of people, and what PostgreSQL keeps for superusers. */
const forOthers = 20;

/** What all services open together where each runs so many times. */
const connections = (processes: (name: string) => number) =>
  deployables
    .filter(({ component }) => component === 'service')
    .map(
      ({ name }) =>
        processes(name) * (mostConnections + (name === 'records' ? scanConnections : 0)),
    )
    .reduce((sum, each) => sum + each, forOthers);

const maxConnections = (command: readonly string[] = []) =>
  Number(/max_connections=(\d+)/.exec(command.join(' '))?.[1] ?? 100);

const find = <Spec>(manifests: readonly Manifest[], kind: string, name: string) =>
  manifests.find((each) => each.kind === kind && each.metadata.name === name)?.spec as Spec;

interface StatefulSet {
  template: {
    spec: {
      containers: {
        args?: string[];
        volumeMounts: { name: string; mountPath: string }[];
        resources?: { limits: { memory: string } };
        readinessProbe?: object;
      }[];
      volumes?: { name: string; emptyDir: { medium: string; sizeLimit: string } }[];
    };
  };
}

describe('PostgreSQL', () => {
  it('takes in docker compose the connections of every service', async () => {
    const { services } = await readCompose();
    expect(maxConnections(services.postgres?.command)).toBeGreaterThanOrEqual(connections(() => 1));
  });

  it('takes on Kubernetes those of every replica, and of one more during a release', async () => {
    const manifests = await render(fromRoot('k8s/overlays/local'));
    const { template } = find<StatefulSet>(manifests, 'StatefulSet', 'postgres');
    const most = connections(
      (name) =>
        find<{ maxReplicas: number }>(manifests, 'HorizontalPodAutoscaler', name).maxReplicas + 1,
    );
    expect(maxConnections(template.spec.containers[0]?.args)).toBeGreaterThanOrEqual(most);
  });

  it('has more shared memory than the 64 MiB of a container', async () => {
    const { services } = await readCompose();
    expect(services.postgres?.shm_size).toBe('256m');
    const manifests = await render(fromRoot('k8s/overlays/local'));
    const { containers, volumes } = find<StatefulSet>(manifests, 'StatefulSet', 'postgres').template
      .spec;
    const mounted = containers[0]?.volumeMounts.find(({ mountPath }) => mountPath === '/dev/shm');
    expect(volumes?.find(({ name }) => name === mounted?.name)?.emptyDir).toEqual({
      medium: 'Memory',
      sizeLimit: '256Mi',
    });
  });
});

describe('RabbitMQ', () => {
  it('has on Kubernetes the memory of docker compose, and no probe that starts a further Erlang in it', async () => {
    const { services } = await readCompose();
    const manifests = await render(fromRoot('k8s/overlays/local'));
    const { template } = find<StatefulSet>(manifests, 'StatefulSet', 'rabbitmq');
    const [container] = template.spec.containers;
    expect(services.rabbitmq?.deploy?.resources.limits.memory).toBe('768M');
    expect(container?.resources?.limits.memory).toBe('768Mi');
    expect(container?.readinessProbe).toMatchObject({ tcpSocket: { port: 'rabbitmq' } });
  });
});
