/** Prints the tokens of each file that the arguments name. */
import { readFile } from 'node:fs/promises';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';

const texts = await Promise.all(process.argv.slice(2).map((file) => readFile(file, 'utf8')));
console.log(JSON.stringify(texts.map((text) => countTokens(text))));
