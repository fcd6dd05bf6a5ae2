import { Socket } from 'node:net';

/** As much as two of the largest answers that a pipelined connection carries. */
const pipelinedBytes = 512 * 1024;
/** As much as Node's sockets read at once. */
const usualBytes = 64 * 1024;
/** A connection keeps a buffer that grew for a larger message up to here: for a part of a large page. */
const mostKeptBytes = 1024 * 1024;

/** A letter, then the length of all that comes behind the letter. */
const headBytes = 5;
const dataRow = 'D'.charCodeAt(0);

export interface MessageSocket extends Socket {
  /** While it is set, it gets each message that is a row in place of pg; the bytes are its own during the call alone. */
  onRow?: ((message: Buffer) => void) | undefined;
}

const messageBytes = (buffer: Buffer, at: number) => 1 + buffer.readUInt32BE(at + 1);

/** Where the last whole message ends. */
const wholeEnd = (buffer: Buffer, filled: number): number => {
  let end = 0;
  while (end + headBytes <= filled && end + messageBytes(buffer, end) <= filled)
    end += messageBytes(buffer, end);
  return end;
};

const handOn = (socket: MessageSocket, messages: Buffer) => {
  const { onRow } = socket;
  if (!onRow) return void socket.emit('data', messages);
  for (let at = 0; at < messages.length; at += messageBytes(messages, at)) {
    const message = messages.subarray(at, at + messageBytes(messages, at));
    if (message[0] === dataRow) onRow(message);
    else socket.emit('data', message);
  }
};

/** What the columns of a row hold, each in memory of its own; undefined for null. */
export const copyColumns = (row: Buffer): (Buffer | undefined)[] => {
  let at = headBytes + 2;
  return Array.from({ length: row.readInt16BE(headBytes) }, () => {
    const length = row.readInt32BE(at);
    at += 4;
    if (length === -1) return undefined;
    const column = Buffer.allocUnsafeSlow(length);
    row.copy(column, 0, at, at + length);
    at += length;
    return column;
  });
};

/**
 * A socket that reads into one buffer again and again and hands on whole messages alone: what ends inside of one pg
 * copies into a new buffer of twice the size (docs/decisions/0008).
 */
export const createMessageSocket = (startBytes: number): MessageSocket => {
  // Pages that nothing was read into yet take no memory.
  let buffer = Buffer.allocUnsafeSlow(startBytes);
  let filled = 0;
  /** Moves what has come of the next message to the front, and makes room for all of it. */
  const keepPart = (end: number) => {
    const part = filled - end;
    const needed = part < headBytes ? headBytes : messageBytes(buffer, end);
    const kept = buffer.length > mostKeptBytes ? startBytes : buffer.length;
    const size = Math.max(needed, kept);
    const next = size === buffer.length ? buffer : Buffer.allocUnsafeSlow(size);
    // Most often all of a part is at the front already.
    if (end > 0 || next !== buffer) buffer.copy(next, 0, end, filled);
    buffer = next;
    filled = part;
  };
  const socket: MessageSocket = new Socket({
    onread: {
      buffer: () => buffer.subarray(filled),
      callback: (bytes) => {
        filled += bytes;
        const end = wholeEnd(buffer, filled);
        // The parser keeps nothing of what ends with a message.
        if (end > 0) handOn(socket, buffer.subarray(0, end));
        keepPart(end);
        return true;
      },
    },
  });
  return socket;
};

/** What speaks TLS reads its own records, and puts messages together as Node's sockets do. */
const unlessTls = (startBytes: number) => (connection?: { ssl?: unknown }) =>
  connection?.ssl ? new Socket() : createMessageSocket(startBytes);

export const createPipelinedSocket = unlessTls(pipelinedBytes);
export const createPoolSocket = unlessTls(usualBytes);
