import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import dockerignore from '@balena/dockerignore';
import { type Copy, DockerfileParser, type From, type Instruction } from 'dockerfile-ast';
import { fromRoot, readText, root } from './files.ts';

export interface Image {
  /** The root of its file system, with what the base image would bring in usr/local/bin. */
  folder: string;
  workingDirectory: string;
  environment: Record<string, string>;
  entrypoint: string[];
  command: string[];
  health: string[];
  user: { uid: number; gid: number };
  stopSignal: NodeJS.Signals;
  remove(): Promise<void>;
}

interface Stage {
  name: string | undefined;
  folder: string;
  workingDirectory: string;
  environment: Record<string, string>;
  settings: Map<string, string>;
}

const node = 'usr/local/bin/node';
const run = promisify(execFile);

const instructionText = (instruction: Instruction): string =>
  instruction.getArgumentsContent()?.replace(/\\\n/g, ' ').trim() ?? '';

/** Copies what .dockerignore lets through; a folder that is left out may still hold what is not. */
const copyContext = async (to: string): Promise<void> => {
  const ignore = dockerignore.default().add(await readText(fromRoot('.dockerignore')));
  const skipped = new Set(['node_modules', '.git', '.backlot']);
  const walk = async (folder: string): Promise<void> => {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      const name = relative(root, path);
      if (skipped.has(entry.name)) continue;
      if (entry.isDirectory()) await walk(path);
      else if (!ignore.ignores(name)) await cp(path, join(to, name));
    }
  };
  await walk(root);
};

const copy = async (instruction: Copy, stage: Stage, stages: Stage[]): Promise<void> => {
  const [source = '', target = ''] = instructionText(instruction).split(/\s+/);
  const to = join(stage.folder, stage.workingDirectory, target);
  const from = instruction.getFromFlag()?.getValue() ?? undefined;
  if (from === undefined && source === '.') return copyContext(to);
  const other = stages.find(({ name }) => name !== undefined && name === from);
  if (!other) throw new Error(`COPY ${source} is not supported`);
  // Nothing looks into that stage afterwards, and copying all files takes long.
  await rename(join(other.folder, source), to);
};

const runStep = async (instruction: Instruction, stage: Stage): Promise<void> => {
  await run('/bin/sh', ['-c', instructionText(instruction)], {
    timeout: 240_000,
    cwd: join(stage.folder, stage.workingDirectory),
    // The machine's own settings tell the package manager how to reach its registry.
    env: {
      ...process.env,
      NODE_ENV: undefined,
      ...stage.environment,
      PATH: `${join(stage.folder, 'usr/local/bin')}:${process.env.PATH}`,
    },
  });
};

const carryOut = async (instruction: Instruction, stage: Stage, stages: Stage[]): Promise<void> => {
  const keyword = instruction.getKeyword();
  const text = instructionText(instruction);
  if (keyword === 'COPY') return copy(instruction as Copy, stage, stages);
  if (keyword === 'RUN') return runStep(instruction, stage);
  if (keyword === 'WORKDIR') {
    stage.workingDirectory = text;
    await mkdir(join(stage.folder, text), { recursive: true });
  } else if (keyword === 'ENV') {
    for (const [, name = '', value = ''] of text.matchAll(/(\S+)=(\S+)/g))
      stage.environment[name] = value;
  } else stage.settings.set(keyword, text);
};

const start = async (from: From, base: string): Promise<Stage> => {
  const folder = await mkdtemp(join(base, 'stage-'));
  await chmod(folder, 0o755);
  await mkdir(join(folder, 'usr/local/bin'), { recursive: true });
  await cp(process.execPath, join(folder, node));
  const name = from.getBuildStage() ?? undefined;
  return { name, folder, workingDirectory: '/', environment: {}, settings: new Map() };
};

const list = (text: string | undefined): string[] =>
  JSON.parse((text ?? '[]').replace(/^CMD\s+/, '')) as string[];

/** Carries out the Dockerfile, line by line, in folders of this machine instead of an engine. */
export const assembleImage = async (): Promise<Image> => {
  const base = await mkdtemp(join(tmpdir(), 'backlot-image-'));
  const remove = () => rm(base, { recursive: true, force: true });
  try {
    await chmod(base, 0o755);
    const stages: Stage[] = [];
    for (const instruction of DockerfileParser.parse(
      await readText(fromRoot('Dockerfile')),
    ).getInstructions()) {
      const stage = stages.at(-1);
      if (instruction.getKeyword() === 'FROM') stages.push(await start(instruction as From, base));
      else if (stage) await carryOut(instruction, stage, stages);
    }
    const last = stages.at(-1);
    if (!last) throw new Error('The Dockerfile has no stage.');
    const { folder, workingDirectory, environment, settings } = last;
    const [uid = 0, gid = 0] = (settings.get('USER') ?? '').split(':').map(Number);
    return {
      folder,
      workingDirectory: join(folder, workingDirectory),
      environment,
      entrypoint: list(settings.get('ENTRYPOINT')),
      command: list(settings.get('CMD')),
      health: list(settings.get('HEALTHCHECK')),
      user: { uid, gid },
      stopSignal: settings.get('STOPSIGNAL') as NodeJS.Signals,
      remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
};
