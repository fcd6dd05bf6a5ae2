import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Manifest } from './kustomize.ts';

const run = promisify(execFile);
const compiler = createRequire(import.meta.url).resolve('typescript/package.json');
const models = dirname(fileURLToPath(import.meta.resolve('kubernetes-models')));

const manifestName = ({ kind, metadata }: Manifest) => `${kind} ${metadata.name}`;

/** What the published schema says: types, required fields, formats. It lets unknown fields pass. */
const wrongBySchema = async (manifest: Manifest): Promise<string[]> => {
  const models = await import(`kubernetes-models/${manifest.apiVersion}`);
  try {
    new models[manifest.kind](manifest).validate();
    return [];
  } catch (error) {
    return [`${manifestName(manifest)}: ${error instanceof Error ? error.message : error}`];
  }
};

/** The compiler refuses a field that the type of an object literal does not know. */
const wrongByType = async (manifests: readonly Manifest[]): Promise<string[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'backlot-manifests-'));
  try {
    const lines = manifests.map(
      (manifest, index) =>
        `export const m${index}: import('kubernetes-models/${manifest.apiVersion}').I${manifest.kind} = ${JSON.stringify(manifest)};`,
    );
    await writeFile(join(folder, 'manifests.ts'), lines.join('\n'));
    await writeFile(
      join(folder, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          strict: true,
          noEmit: true,
          skipLibCheck: true,
          types: [],
          module: 'nodenext',
          moduleResolution: 'nodenext',
          paths: { 'kubernetes-models/*': [`${models}/*/index.d.ts`] },
        },
        files: ['manifests.ts'],
      }),
    );
    await run(process.execPath, [join(dirname(compiler), 'bin/tsc'), '-p', folder]);
    return [];
  } catch (error) {
    const { stdout } = error as { stdout?: string };
    if (!stdout) throw error;
    return stdout
      .trim()
      .split('\n')
      .map((line) => {
        const index = Number(/manifests\.ts\((\d+),/.exec(line)?.[1] ?? 0) - 1;
        const manifest = manifests[index];
        return manifest ? `${manifestName(manifest)}: ${line.replace(/^.*?: /, '')}` : line;
      });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** Each wrong, missing or unknown field, by the Kubernetes schemas. */
export const wrongFields = async (manifests: readonly Manifest[]): Promise<string[]> => [
  ...(await Promise.all(manifests.map(wrongBySchema))).flat(),
  ...(await wrongByType(manifests)),
];
