import { styleText } from 'node:util';
import { prettyFactory } from 'pino-pretty';

const colors = ['cyan', 'magenta', 'green', 'yellow', 'blue', 'red', 'gray'] as const;

/** One stream for all processes: each line behind its process's name, in the process's colour. */
export const createLogLines = (
  names: readonly string[],
  write: (text: string) => void,
  colorize: boolean,
): ((name: string, line: string) => void) => {
  const width = Math.max(...names.map((name) => name.length));
  const pretty = prettyFactory({
    colorize,
    ignore: 'pid,hostname,service',
    translateTime: 'HH:MM:ss.l',
    singleLine: true,
  });
  return (name, line) => {
    const label = name.padEnd(width);
    const color = colors[names.indexOf(name) % colors.length] ?? 'gray';
    const prefix = colorize ? styleText(color, label, { validateStream: false }) : label;
    const text = line.startsWith('{') ? pretty(line).trimEnd() : line;
    for (const row of text.split('\n')) write(`${prefix} | ${row}\n`);
  };
};
