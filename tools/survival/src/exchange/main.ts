import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { streamPieces } from './calls.ts';
import { exchange } from './exchange.ts';
import { startSlowModel } from './slow-model.ts';

/** `pnpm exchange [--model-port 4100] <origin of a gateway>[,<another>] <command that exchanges processes>` */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'model-port': { type: 'string' } },
});
const [gateways = 'http://localhost:8080', ...command] = positionals;
const port = values['model-port'];
const model = port === undefined ? undefined : await startSlowModel(Number(port), streamPieces);
const failures = await exchange({
  gateways: gateways.split(','),
  operatorToken: process.env.BACKLOT_OPERATOR_TOKEN ?? '',
  async work() {
    const child = spawn(command.join(' '), { shell: true, stdio: 'inherit' });
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`The command ended with ${code}.`);
  },
  print: console.log,
});
model?.closeAllConnections();
model?.close();
console.log(failures === 0 ? 'No call failed.' : `${failures} failed.`);
process.exitCode = failures === 0 ? 0 : 1;
