import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { generatedFiles, withRabbitmqUsers } from './generate.ts';

const k8s = new URL('../../../k8s/', import.meta.url);
const folder = new URL('base/deployables/', k8s);
await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
for (const [name, text] of generatedFiles()) await writeFile(new URL(name, folder), text);

const rabbitmq = new URL('overlays/local/rabbitmq.yaml', k8s);
await writeFile(rabbitmq, withRabbitmqUsers(await readFile(rabbitmq, 'utf8')));
