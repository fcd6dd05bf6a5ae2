/** Enough to know the own one by: `ad…@example.org`. */
export const maskAddress = (email: string): string => {
  const at = email.lastIndexOf('@');
  const local = [...email.slice(0, at)];
  return `${local.slice(0, local.length > 3 ? 2 : 1).join('')}…${email.slice(at)}`;
};
