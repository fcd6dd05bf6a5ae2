const count = new Intl.NumberFormat('en');
const short = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const units = ['bytes', 'KB', 'MB', 'GB', 'TB'];

/** "1,234". */
export const formatCount = (value: number): string => count.format(value);

/** "1.2 MB", in steps of 1024. */
export const formatBytes = (bytes: number): string => {
  const step = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), units.length - 1);
  return `${short.format(bytes / 1024 ** step)} ${units[step]}`;
};

/** Credits of thousandths: "12.5". */
export const formatCredits = (millicredits: number): string => short.format(millicredits / 1000);

/** "1 record", "3 records". */
export const countWords = (value: number, one: string, many = `${one}s`): string =>
  `${formatCount(value)} ${value === 1 ? one : many}`;
