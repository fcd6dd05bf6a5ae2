import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';

const compiler = join(
  dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
  'bin/tsc',
);

/** `import` and `export … from`: what is named, and the module. */
const link = /^(import|export) (?:type )?\{([^}]*)\} from '\.\/([\w-]+)\.ts';\n/gm;
const inline = /import\("\.\/([\w-]+)\.ts"\)\./g;
const declared = /^(export )?(?:declare )?(?:interface|type|const|class|function) (\w+)/gm;

/** Declarations of modules, by the module's name. */
const compile = async (entries: readonly string[]): Promise<Map<string, string>> => {
  const folder = await mkdtemp(join(tmpdir(), 'backlot-declarations-'));
  const options = {
    outDir: folder,
    module: 'nodenext',
    target: 'es2022',
    types: '',
    strict: true,
    lib: 'es2022,dom,dom.asynciterable',
    declaration: true,
    emitDeclarationOnly: true,
    allowImportingTsExtensions: true,
    verbatimModuleSyntax: true,
    ignoreConfig: true,
  };
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  try {
    await promisify(execFile)(process.execPath, [compiler, ...entries, ...flags]);
    const files = await readdir(folder);
    const texts = files.map(
      async (file): Promise<[string, string]> => [
        file.replace(/\.d\.ts$/, ''),
        await readFile(join(folder, file), 'utf8'),
      ],
    );
    return new Map(await Promise.all(texts));
  } finally {
    await rm(folder, { recursive: true });
  }
};

const toNames = (list: string): string[] =>
  list
    .split(',')
    .map((name) => name.trim().replace(/^type /, ''))
    .filter((name) => name !== '');

/** The module after all that it names. */
const inOrder = (modules: ReadonlyMap<string, string>, name: string, found: string[]): string[] => {
  const text = modules.get(name);
  if (text === undefined || found.includes(name)) return found;
  found.push(name);
  for (const [, , , other = ''] of text.matchAll(link)) inOrder(modules, other, found);
  for (const [, other = ''] of text.matchAll(inline)) inOrder(modules, other, found);
  return found;
};

const refuseTwins = (text: string): void => {
  const names = [...text.matchAll(declared)].map(([, , name]) => name);
  const twin = names.find((name, at) => names.indexOf(name) !== at);
  if (twin !== undefined) throw new Error(`Two modules of the client declare "${twin}".`);
};

/** All modules as one; only what the entry exports is exported. */
const bundle = (modules: ReadonlyMap<string, string>, entry: string): string => {
  const own = modules.get(entry) ?? '';
  const reexported = [...own.matchAll(link)]
    .filter(([, way]) => way === 'export')
    .flatMap(([, , list = '']) => toNames(list));
  const texts = inOrder(modules, entry, []).map((name) => {
    const text = (modules.get(name) ?? '').replace(link, '').replace(inline, '');
    return name === entry
      ? text
      : text.replace(/^export (?=\w)/gm, '').replace(/^export \{\};\n/gm, '');
  });
  const text = texts.join('');
  refuseTwins(text);
  return `${text}export { ${reexported.sort().join(', ')} };\n`;
};

/** What the entry takes from the other file's modules is imported from there. */
const beside = (modules: ReadonlyMap<string, string>, entry: string, file: string): string => {
  const text = modules.get(entry) ?? '';
  const names = [...text.matchAll(link)].flatMap(([, , list = '']) => toNames(list));
  return `import type { ${names.sort().join(', ')} } from './${file}';\n${text.replace(link, '')}`;
};

/**
 * What stands beside sdk.js and sdk-uploads.js for editors and compilers.
 * @param sources paths of the client's entries
 */
export const describeBundles = async (sources: { sdk: string; uploads: string }) => {
  const modules = await compile([sources.sdk, sources.uploads]);
  const entry = (path: string) => basename(path, '.ts');
  return {
    'sdk.d.ts': bundle(modules, entry(sources.sdk)),
    'sdk-uploads.d.ts': beside(modules, entry(sources.uploads), 'sdk.js'),
  };
};
