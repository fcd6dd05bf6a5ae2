/** JSON, as people read it. */
export const printJson = (value: unknown): void => {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
};

/** Beside the answer: what is under way. */
export const say = (text: string): void => {
  process.stderr.write(`${text}\n`);
};

export const besideServers = 'Beside the servers, with their settings:';
