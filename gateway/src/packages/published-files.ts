/** The client and the command as npm takes them, from what lies in the repository: nothing is compiled here. */
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';

export const publishedPackages = ['client', 'cli'] as const;
export type PublishedPackage = (typeof publishedPackages)[number];

export interface PublishedFile {
  /** Below the package's folder. */
  path: string;
  content: Buffer;
}

interface Manifest {
  name: string;
  version: string;
  description: string;
  engines?: Record<string, string>;
  dependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional: boolean }>;
}

/** Stands in the READMEs for the installation's own address. */
const placeholder = 'https://backlot.example';

const module = (name: string) => [`${name}.js`, `${name}.js.map`, `${name}.d.ts`];
const entry = (name: string) => ({ types: `./${name}.d.ts`, default: `./${name}.js` });

const ownManifest = './package.json';
const published = {
  client: {
    files: [
      ...['sdk', 'sdk-uploads', 'sdk-react', 'sdk-sign-in'].flatMap(module),
      ...['sdk-live', 'sdk-accounts', 'sdk-proof'].flatMap((name) => [
        `${name}.js`,
        `${name}.js.map`,
      ]),
    ],
    // For resolvers that look for files and know no `exports`.
    written: {
      'uploads.js': "export * from './sdk-uploads.js';\n",
      'uploads.d.ts': "export * from './sdk-uploads.js';\n",
      'react.js': "export * from './sdk-react.js';\n",
      'react.d.ts': "export * from './sdk-react.js';\n",
      'sign-in.js': "export * from './sdk-sign-in.js';\n",
      'sign-in.d.ts': "export * from './sdk-sign-in.js';\n",
    },
    manifest: {
      main: './sdk.js',
      types: './sdk.d.ts',
      // The oldest Node whose `fetch`, `File` and readable streams the client can rely on.
      engines: { node: '>=20' },
      exports: {
        '.': entry('sdk'),
        './uploads': entry('sdk-uploads'),
        './react': entry('sdk-react'),
        './sign-in': entry('sdk-sign-in'),
        [ownManifest]: ownManifest,
      },
      // The form names its element when it is loaded.
      sideEffects: ['./sdk-sign-in.js', './sign-in.js'],
    },
  },
  cli: {
    files: ['cli.js'],
    written: {},
    manifest: { exports: { [ownManifest]: ownManifest }, bin: { backlot: 'cli.js' } },
  },
} as const;

const resolveFrom = createRequire(import.meta.url);

/** A dependency goes along, with its licence, so that no registry is needed. */
const readDependency = async (from: string, name: string): Promise<PublishedFile[]> => {
  const folder = dirname(createRequire(from).resolve(name));
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((file) => file.isFile() && !file.name.endsWith('.d.ts'))
    .map((file) => join(file.parentPath, file.name));
  return Promise.all(
    paths.sort().map(async (path) => ({
      path: `node_modules/${name}/${relative(folder, path)}`,
      content: await readFile(path),
    })),
  );
};

/** @param publicUrl base of absolute addresses, without a slash at the end */
export const readPublishedFiles = async (
  packageName: PublishedPackage,
  publicUrl: string,
): Promise<PublishedFile[]> => {
  const manifestPath = resolveFrom.resolve(`@backlot/${packageName}/package.json`);
  const folder = dirname(manifestPath);
  const read = (path: string) => readFile(join(folder, path));
  const manifest = JSON.parse((await read('package.json')).toString()) as Manifest;
  const { name, version, description, engines, dependencies = {} } = manifest;
  const { peerDependencies, peerDependenciesMeta } = manifest;
  const written = {
    name,
    version,
    description,
    license: 'UNLICENSED',
    type: 'module',
    ...(engines && { engines }),
    ...published[packageName].manifest,
    ...(peerDependencies && { peerDependencies, peerDependenciesMeta }),
    ...(manifest.dependencies && { dependencies, bundleDependencies: Object.keys(dependencies) }),
  };
  const files = published[packageName].files.map(async (path) => ({
    path,
    content: await read(path),
  }));
  const texts = Object.entries({
    ...published[packageName].written,
    'package.json': `${JSON.stringify(written, null, 2)}\n`,
    'README.md': (await read('README.md')).toString().replaceAll(placeholder, publicUrl),
  });
  const others = Object.keys(dependencies).map((other) => readDependency(manifestPath, other));
  return [
    ...texts.map(([path, text]) => ({ path, content: Buffer.from(text) })),
    ...(await Promise.all(files)),
    ...(await Promise.all(others)).flat(),
  ];
};
