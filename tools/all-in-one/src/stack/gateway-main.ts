import { runGateway } from '@backlot/gateway/run';
import { createOwnerLink, signInAsOwner } from '../owner-link.ts';
import { keepCodeInFile, readLinkFile } from './link-file.ts';

/** The first gateway of the stack: the one whose address is printed. */
const { OWNER_LINK_FILE: file = '', PORT } = process.env;
const kept = await readLinkFile(file);
const link = createOwnerLink(keepCodeInFile(file), async () => {
  if (!kept) throw new Error('The link is used.');
  return signInAsOwner(Number(PORT), kept.owner);
});
await runGateway(process.env, (app) => (req, res) => {
  if (!link.answer(req, res)) app(req, res);
});
