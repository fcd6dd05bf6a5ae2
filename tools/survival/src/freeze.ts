import { readdir, readFile, readlink } from 'node:fs/promises';

interface Running {
  pid: number;
  parent: number;
  isOfFolder: boolean;
}

const look = async (pid: number, folder: string): Promise<Running[]> => {
  try {
    const [command, stat, workingFolder] = await Promise.all([
      readFile(`/proc/${pid}/cmdline`, 'utf8'),
      readFile(`/proc/${pid}/stat`, 'utf8'),
      readlink(`/proc/${pid}/cwd`),
    ]);
    // Behind the name, which may hold anything.
    const [, parent = '0'] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const isOfFolder = command.includes(folder) || workingFolder.startsWith(folder);
    return [{ pid, parent: Number(parent), isOfFolder }];
  } catch {
    return [];
  }
};

/** Those that work in the folder or name it, and all that they started. */
const findProcesses = async (folder: string): Promise<number[]> => {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const running = (await Promise.all(pids.map((pid) => look(pid, folder)))).flat();
  const found = new Set(running.filter(({ isOfFolder }) => isOfFolder).map(({ pid }) => pid));
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const { pid, parent } of running) if (found.has(parent)) found.add(pid);
  }
  found.delete(process.pid);
  return [...found];
};

/**
 * A server that holds its connections and answers nothing, as with `docker pause`.
 * @param folder of its data
 * @returns lets it go on
 */
export const freeze = async (folder: string): Promise<() => void> => {
  const pids = await findProcesses(folder);
  if (pids.length === 0) throw new Error(`Nothing runs in ${folder}.`);
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  return () => {
    for (const pid of pids) process.kill(pid, 'SIGCONT');
  };
};
