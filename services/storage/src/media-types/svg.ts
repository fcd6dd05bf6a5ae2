/** Where what stands before the first element ends, or undefined where that is the first element. */
const prologPart = (text: string): string | undefined => {
  if (text.startsWith('<!--')) return '-->';
  if (text.startsWith('<?')) return '?>';
  if (!/^<!doctype\s+([\w.-]+:)?svg\b/i.test(text)) return undefined;
  const [, bracket] = /^[^[>]*([[>])/.exec(text) ?? [];
  return bracket === '[' ? ']>' : '>';
};

/** Whether the first element of this XML is an `svg`, as far as its first bytes tell. */
export const isSvg = (head: Buffer): boolean => {
  let text = new TextDecoder().decode(head).trimStart();
  for (;;) {
    const end = prologPart(text);
    if (end === undefined) return /^<([\w.-]+:)?svg[\s/>]/.test(text);
    const at = text.indexOf(end);
    if (at < 0) return false;
    text = text.slice(at + end.length).trimStart();
  }
};
