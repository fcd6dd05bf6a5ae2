import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { CallFailed, openCall, patiently, type Target } from './api.ts';

const newline = 0x0a;
/** Breaks in a row without a line between them. */
const maxBreaks = 5;

const write = async (out: Writable, bytes: Buffer): Promise<void> => {
  if (bytes.length > 0 && !out.write(bytes)) await once(out, 'drain');
};

const lastId = (lines: Buffer): string | undefined => {
  const start = lines.lastIndexOf(newline, lines.length - 2) + 1;
  const line = lines.subarray(start).toString().trim();
  return line === '' ? undefined : (JSON.parse(line) as { id: string }).id;
};

/** Passes whole lines on. @param onId told the id of the last one that has come */
const passLines = async (
  body: AsyncIterable<Uint8Array>,
  out: Writable,
  onId: (id: string) => void,
): Promise<void> => {
  let held: Buffer[] = [];
  for await (const chunk of body) {
    const bytes = Buffer.from(chunk);
    const end = bytes.lastIndexOf(newline) + 1;
    held.push(bytes.subarray(0, end));
    if (end > 0) {
      const lines = Buffer.concat(held);
      held = [];
      await write(out, lines);
      const id = lastId(lines);
      if (id !== undefined) onId(id);
    }
    held.push(bytes.subarray(end));
  }
};

/** Writes what an export answers. One of NDJSON that breaks off goes on behind its last line. @throws CallFailed */
export const exportRecords = async (
  target: Target,
  path: string,
  query: URLSearchParams,
  out: Writable,
): Promise<void> => {
  const isCsv = query.get('format') === 'csv';
  let breaks = 0;
  for (;;) {
    const { body } = await patiently(() => openCall(target, 'GET', `${path}?${query}`));
    if (!body) return;
    try {
      if (isCsv) for await (const chunk of body) await write(out, Buffer.from(chunk));
      else
        await passLines(body, out, (id) => {
          query.set('after', id);
          breaks = 0;
        });
      return;
    } catch (error) {
      breaks += 1;
      if (isCsv || breaks > maxBreaks)
        throw new CallFailed('The export broke off.', error instanceof Error ? error.message : '');
    }
  }
};
