import { ApiError, type KeyScope } from '@backlot/contract';
import { z } from 'zod';

/** What a tool has to work with: calls of the API on behalf of whoever uses it. */
export interface ToolContext {
  projectId: string;
  /** Of the project. */
  baseUrl: string;
  /**
   * The text of the answer.
   * @throws CallFailed, ApiError query_too_expensive past a mebibyte
   */
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<string>;
}

export interface Tool<Input extends z.ZodObject = z.ZodObject> {
  name: string;
  title: string;
  description: string;
  /** A key without it does not see the tool. */
  scope: KeyScope;
  input: Input;
  /** Whether what was there before may be gone afterwards. */
  isDestructive: boolean;
  /** Answers JSON. @throws CallFailed, ApiError */
  run(input: z.output<Input>, context: ToolContext): Promise<string>;
}

export const defineTool = <Input extends z.ZodObject>(tool: Tool<Input>): Tool =>
  tool as unknown as Tool;

/** Of an answer of a tool. */
export const maxAnswerBytes = 100 * 1024;

export const collection = z.string().min(1).max(63).describe('Name of the collection');

/** Path of its records. */
export const inCollection = (projectId: string, name: string) =>
  `/api/runtime/${projectId}/db/${encodeURIComponent(name)}`;

export const toQuery = (parameters: Record<string, string | number | undefined>): string => {
  const given = Object.entries(parameters).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
};

export const fits = (text: string) => Buffer.byteLength(text) <= maxAnswerBytes;

export const tooLarge = (hint: string) =>
  new ApiError('query_too_expensive', `The answer has more than ${maxAnswerBytes / 1024} KiB.`, {
    hint,
  });
