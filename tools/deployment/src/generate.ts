import { rabbitmqDefinitions } from '@backlot/bus/rabbitmq-users';
import { eventTraffic } from '@backlot/contract';
import { parseAllDocuments, stringify, visit } from 'yaml';
import { deployables } from './deployables.ts';
import { toManifests } from './manifests.ts';

const head = '# Written by tools/deployment/src/generate-main.ts: do not edit.\n';
const document = (value: unknown) =>
  stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });

/** The files of k8s/base/deployables by name. */
export const generatedFiles = (): Map<string, string> => {
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: deployables.map(({ name }) => `${name}.yaml`),
  };
  return new Map([
    ['kustomization.yaml', head + document(kustomization)],
    ...deployables.map((deployable): [string, string] => [
      `${deployable.name}.yaml`,
      head + toManifests(deployable).map(document).join('---\n'),
    ]),
  ]);
};

/** The manifest of RabbitMQ with a user for each process, whose passwords come from the Secret. */
export const withRabbitmqUsers = (manifest: string): string => {
  const users = Object.entries(eventTraffic).map(([name, traffic]) => {
    const setting = `${name.toUpperCase()}_RABBITMQ_PASSWORD`;
    return { setting, user: { name, password: `$(${setting})`, ...traffic } };
  });
  const passwords = users.map(({ setting }) => ({
    name: setting,
    valueFrom: { secretKeyRef: { name: 'backlot-secrets', key: setting } },
  }));
  const definitions = JSON.stringify(rabbitmqDefinitions(users.map(({ user }) => user)), null, 2);
  const env = [...passwords, { name: 'DEFINITIONS', value: `${definitions}\n` }];
  const documents = parseAllDocuments(manifest);
  if (!Array.isArray(documents)) throw new Error('The manifest is empty.');
  for (const part of documents.filter((found) => found.get('kind') === 'StatefulSet'))
    part.setIn(['spec', 'template', 'spec', 'initContainers', 0, 'env'], env);
  // The formatter writes collections in one line otherwise than this does.
  const inLines = (_key: unknown, collection: { flow?: boolean }) => {
    collection.flow = false;
  };
  for (const part of documents) visit(part, { Map: inLines, Seq: inLines });
  return documents.map((part) => part.toString({ lineWidth: 0 })).join('');
};
