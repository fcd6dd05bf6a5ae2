import { stringify } from 'yaml';
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
