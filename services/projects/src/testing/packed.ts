import { type Header, pack } from 'tar-stream';

export type HeaderArgument = Partial<Header> & Pick<Header, 'name'>;

/** A tar with these files, and one more entry at its end. */
export const packed = async (
  files: Readonly<Record<string, string | Uint8Array>>,
  last?: HeaderArgument,
): Promise<Buffer> => {
  const tar = pack();
  for (const [name, content] of Object.entries(files)) tar.entry({ name }, content);
  if (last) tar.entry(last, '');
  tar.finalize();
  const pieces: Uint8Array[] = [];
  for await (const piece of tar) pieces.push(piece as Uint8Array);
  return Buffer.concat(pieces);
};
