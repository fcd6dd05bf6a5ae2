/** Prints what is wrong with a package: its folder and its archive are the arguments. */
import { readFile } from 'node:fs/promises';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';

const [, , pkgDir, tarball] = process.argv;
const { messages } = await publint({ pkgDir, strict: true, pack: false });
const content = createPackageFromTarballData(new Uint8Array(await readFile(tarball)));
const { types, problems = [] } = await checkPackage(content);
const kinds = problems.map(({ kind }) => kind);
console.log(JSON.stringify({ messages, isTyped: types !== false, kinds }));
