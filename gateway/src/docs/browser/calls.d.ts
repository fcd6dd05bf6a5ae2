export interface WrittenCall {
  method: string;
  /** Whole, with its query. */
  url: string;
  needsToken: boolean;
  headers?: Readonly<Record<string, string>>;
  body?: { kind: 'json' | 'form' | 'bytes'; value?: unknown; type?: string };
}

export declare const writeFetch: (call: WrittenCall) => string;
export declare const writeCurl: (call: WrittenCall) => string;
export declare const writePath: (
  path: string,
  inPath: Readonly<Record<string, string>>,
  inQuery: Readonly<Record<string, string>>,
) => string;
