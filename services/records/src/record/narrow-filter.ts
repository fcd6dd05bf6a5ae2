export { parseMine } from '../query/selection.ts';
