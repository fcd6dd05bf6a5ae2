import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { readText } from './files.ts';

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
  [field: string]: unknown;
}

interface Kustomization {
  namespace?: string;
  resources?: string[];
  images?: { name: string; newName?: string; newTag?: string }[];
  patches?: { path: string; target?: { kind?: string; name?: string } }[];
}

type Json = Record<string, unknown>;

const known = new Set(['apiVersion', 'kind', 'namespace', 'resources', 'images', 'patches']);
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A strategic merge without lists: what these overlays need of it. */
const merge = (base: unknown, patch: unknown): unknown => {
  if (Array.isArray(patch)) throw new Error('a patch that holds a list is not supported');
  if (!isObject(patch) || !isObject(base)) return patch;
  const merged: Json = { ...base };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = merge(base[key], value);
  }
  return merged;
};

const readManifests = async (file: string): Promise<Manifest[]> =>
  parseAllDocuments(await readText(file)).map((document) => {
    if (document.errors[0]) throw document.errors[0];
    return document.toJS() as Manifest;
  });

const patched = async (
  folder: string,
  manifests: Manifest[],
  { path, target }: NonNullable<Kustomization['patches']>[number],
): Promise<Manifest[]> => {
  const [patch] = await readManifests(join(folder, path));
  if (!patch) throw new Error(`${path} is empty`);
  const wanted = target ?? { kind: patch.kind, name: patch.metadata.name };
  let found = false;
  const result = manifests.map((manifest) => {
    if (wanted.kind !== undefined && wanted.kind !== manifest.kind) return manifest;
    if (wanted.name !== undefined && wanted.name !== manifest.metadata.name) return manifest;
    found = true;
    return { ...(merge(manifest, patch) as Manifest), metadata: manifest.metadata };
  });
  if (!found) throw new Error(`${path} patches nothing`);
  return result;
};

const withImages = (value: unknown, images: NonNullable<Kustomization['images']>): unknown => {
  if (Array.isArray(value)) return value.map((item) => withImages(item, images));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const image = key === 'image' && images.find(({ name }) => name === inner);
      if (!image) return [key, withImages(inner, images)];
      return [key, `${image.newName ?? image.name}:${image.newTag ?? 'latest'}`];
    }),
  );
};

/**
 * Applies the part of kustomize that k8s/ uses: resources, namespace, images (by bare name) and
 * patches that hold no list.
 * @throws Error on anything else
 */
export const render = async (folder: string): Promise<Manifest[]> => {
  const kustomization = parse(await readText(join(folder, 'kustomization.yaml'))) as Kustomization;
  const stranger = Object.keys(kustomization).find((key) => !known.has(key));
  if (stranger !== undefined) throw new Error(`${stranger} is not supported`);

  const { namespace, resources = [], images = [], patches = [] } = kustomization;
  let manifests: Manifest[] = [];
  for (const resource of resources) {
    const path = join(folder, resource);
    const inner = (await stat(path)).isDirectory() ? await render(path) : await readManifests(path);
    manifests.push(...inner);
  }
  for (const patch of patches) manifests = await patched(folder, manifests, patch);
  return manifests.map((rendered) => {
    const manifest = withImages(rendered, images) as Manifest;
    if (namespace === undefined || rendered.kind === 'Namespace') return manifest;
    return { ...manifest, metadata: { ...manifest.metadata, namespace } };
  });
};
