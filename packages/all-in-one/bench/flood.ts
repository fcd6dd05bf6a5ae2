/** Calls an address at a steady rate, in a process of its own so that it disturbs no measuring one. */
import { paced } from './load.ts';

const [url = '', perSecond = '', seconds = ''] = process.argv.slice(2);
await paced(url, {}, Number(perSecond), Number(seconds));
