/** A path and what stands below it, each part as one segment. */
export const pathBelow = (path: string, ...parts: string[]): string =>
  [path, ...parts.map(encodeURIComponent)].join('/');
