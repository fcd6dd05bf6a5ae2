import { readFileSync } from 'node:fs';

const lookMs = 1000;
const maxLinks = 20;
/** Of the scripts in package.json. */
const scripts = new Set(['dev', 'stack']);

const read = (pid: number, file: string) => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
};

const readParent = (pid: number) =>
  pid === process.pid ? process.ppid : Number(/^PPid:\s*(\d+)/m.exec(read(pid, 'status'))?.[1]);

/** Processes and their parents, from this one up to the package manager that somebody called. */
const findLinks = () => {
  const links: [pid: number, parent: number][] = [];
  let pid = process.pid;
  do {
    const parent = readParent(pid);
    links.push([pid, parent]);
    pid = parent;
  } while (links.length < maxLinks && /(^|\0)npm_command=/.test(read(pid, 'environ')));
  return links;
};

/**
 * Calls back once when the package manager that runs this process as a script is gone: npm ends the shell
 * that it started, and what that had started goes on without a signal. Outside of Linux it sees its parent alone.
 */
export const onStarterGone = (callback: () => void, everyMs = lookMs): void => {
  if (!scripts.has(process.env.npm_lifecycle_event ?? '')) return;
  const links = findLinks();
  const timer = setInterval(() => {
    if (links.every(([pid, parent]) => readParent(pid) === parent)) return;
    clearInterval(timer);
    callback();
  }, everyMs).unref();
};
