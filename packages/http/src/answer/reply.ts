import type { ServerResponse } from 'node:http';
import type { RouteDefinition, RouteResponse } from '@backlot/contract';
import type { Answer, KeptAnswer } from './idempotent.ts';
import type { LargeJson } from './json-parts.ts';

/** JSON that somebody else (PostgreSQL) has already written, with what stands before and behind it. */
export class JsonText {
  readonly pieces: readonly string[];
  constructor(...pieces: string[]) {
    this.pieces = pieces;
  }
}

export interface Reply<R extends RouteDefinition> {
  /** A large one is sent in parts, at the caller's pace; it goes with no Idempotency-Key. */
  body: RouteResponse<R> | JsonText | LargeJson;
  headers?: Record<string, string>;
  /** Instead of the route's `status`: one of its `otherStatus`. */
  status?: NonNullable<R['otherStatus']>['status'];
  /** What a priced call used; a replay of its answer uses nothing. */
  usedMillicredits?: number;
  /** The last writes, stored together with the answer where an Idempotency-Key keeps it. */
  commit?: () => Promise<unknown>;
}

/** Last writes that decide the answer; stored together with it, as those of `commit` are. */
export interface LastWrites<R extends RouteDefinition> {
  transact: () => Promise<Reply<R>>;
}

/** Makes a reply ready to be stored by the statement that does the work. */
export type KeepReply<R extends RouteDefinition> = (reply: Reply<R>) => KeptAnswer;

export interface SentAnswer extends Omit<Answer, 'body'> {
  /**
   * Joined they would be one long string, which V8 copies before it is measured and once more behind the
   * head.
   */
  pieces: readonly string[];
}

export const joinPieces = ({ pieces, ...answer }: SentAnswer): Answer => ({
  ...answer,
  body: pieces.join(''),
});

export const sendAnswer = (res: ServerResponse, { status, headers, pieces }: SentAnswer) => {
  const contentHeaders = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0),
  };
  res.writeHead(status, { ...(status !== 204 && contentHeaders), ...headers });
  res.cork();
  for (const piece of pieces.slice(0, -1)) res.write(piece);
  res.end(pieces.at(-1));
};
