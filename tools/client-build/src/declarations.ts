import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join as joinPath } from 'node:path';
import { promisify } from 'node:util';

const compiler = joinPath(
  dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
  'bin/tsc',
);

/** `import` and `export … from`: what is named, and the module. */
const link =
  /^(import|export) (?:type )?\{([^}]*)\} from '\.{1,2}\/(?:[\w-]+\/)*([\w-]+)\.ts';\n/gm;
const inline = /import\("\.{1,2}\/(?:[\w-]+\/)*([\w-]+)\.ts"\)\./g;
const declared = /^(export )?(?:declare )?(?:interface|type|const|class|function) (\w+)/gm;

/** Declarations of modules, by the name of the module's file, in whichever folder it stands. */
const compile = async (entries: readonly string[]): Promise<Map<string, string>> => {
  const folder = await mkdtemp(joinPath(tmpdir(), 'backlot-declarations-'));
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
    const files = (await readdir(folder, { recursive: true })).filter((file) =>
      file.endsWith('.d.ts'),
    );
    const modules = new Map<string, string>();
    for (const file of files) {
      const name = basename(file, '.d.ts');
      if (modules.has(name)) throw new Error(`Two modules of the client are called "${name}".`);
      modules.set(name, await readFile(joinPath(folder, file), 'utf8'));
    }
    return modules;
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

/** Modules as one; only what the entry exports is exported. */
const join = (
  modules: ReadonlyMap<string, string>,
  entry: string,
  names: readonly string[],
): string => {
  const own = modules.get(entry) ?? '';
  const reexported = [...own.matchAll(link)]
    .filter(([, way]) => way === 'export')
    .flatMap(([, , list = '']) => toNames(list));
  const texts = names.map((name) => {
    const text = (modules.get(name) ?? '').replace(link, '').replace(inline, '');
    return name === entry
      ? text
      : text.replace(/^export (?=\w)/gm, '').replace(/^export \{\};\n/gm, '');
  });
  const text = texts.join('');
  refuseTwins(text);
  return reexported.length === 0 ? text : `${text}export { ${reexported.sort().join(', ')} };\n`;
};

/** What the entry takes from the modules of another file is imported from there. */
const beside = (
  modules: ReadonlyMap<string, string>,
  entry: string,
  { file, names }: { file: string; names: readonly string[] },
): string => {
  const own = inOrder(modules, entry, []).filter((name) => !names.includes(name));
  const links = own.flatMap((name) => [...(modules.get(name) ?? '').matchAll(link)]);
  const taken = links.filter(([, , , other = '']) => names.includes(other));
  const needed = new Set(taken.flatMap(([, , list = '']) => toNames(list)));
  return `import type { ${[...needed].sort().join(', ')} } from './${file}';\n${join(modules, entry, own)}`;
};

/**
 * What stands beside sdk.js, and beside the modules next to it, for editors and compilers.
 * @param sources paths of the client's entries; `besides` by the name of the file
 */
export const describeBundles = async (sources: {
  sdk: string;
  besides: Readonly<Record<string, string>>;
}): Promise<Record<string, string>> => {
  const modules = await compile([sources.sdk, ...Object.values(sources.besides)]);
  const nameOf = (path: string) => basename(path, '.ts');
  const names = inOrder(modules, nameOf(sources.sdk), []);
  const besides = Object.entries(sources.besides).map(([file, path]) => [
    file,
    beside(modules, nameOf(path), { file: 'sdk.js', names }),
  ]);
  return {
    'sdk.d.ts': join(modules, nameOf(sources.sdk), names),
    ...Object.fromEntries(besides),
  };
};
