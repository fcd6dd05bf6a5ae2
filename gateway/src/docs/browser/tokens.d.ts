export declare const tokenize: (code: string, language: string) => [kind: string, text: string][];
