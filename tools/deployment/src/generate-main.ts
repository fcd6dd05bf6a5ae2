import { mkdir, rm, writeFile } from 'node:fs/promises';
import { generatedFiles } from './generate.ts';

const folder = new URL('../../../k8s/base/deployables/', import.meta.url);
await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
for (const [name, text] of generatedFiles()) await writeFile(new URL(name, folder), text);
