import type { CollectionAccess } from '@backlot/contract';
import { hintHeader } from '@backlot/http';
import type { Place } from './access.ts';
import { compileAccess } from './rules.ts';

/** Words in the names of collections that hold what concerns one person. */
const personal =
  /^(account|address|addresse|appointment|booking|chat|contact|customer|email|invoice|message|order|patient|payment|profile|purchase|reservation|subscription|ticket|user)s?$/;

/** `customerOrders` and `customer_orders` are two words. */
const splitWords = (name: string): string[] =>
  name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/);

/** What its owner should know of a collection that everybody can read; undefined where that seems meant. */
export const adviceFor = (name: string, access: CollectionAccess): string | undefined => {
  if (!compileAccess(access).rules.read.includes('anyone')) return undefined;
  if (!splitWords(name).some((word) => personal.test(word))) return undefined;
  return `Anyone can read all of "${name}". If that is not meant, set its access, for example to "private".`;
};

interface Advised {
  readonly name: string;
  readonly access: CollectionAccess;
}

/** Of each collection as long as its process keeps it: its answers all ask, and splitting names takes regular expressions. */
const known = new WeakMap<Advised, { advice: string | undefined }>();

const adviceOn = (collection: Advised): string | undefined => {
  const found = known.get(collection);
  if (found) return found.advice;
  const advice = adviceFor(collection.name, collection.access);
  known.set(collection, { advice });
  return advice;
};

/** The advice as a header of an answer, behind what else is to be said. */
export const withAdvice = (
  headers: Record<string, string>,
  { project, collection }: { project: Place['project']; collection: Advised },
): Record<string, string> => {
  const { name } = collection;
  const advice = adviceOn(collection);
  if (advice === undefined) return headers;
  const how = `PUT /api/platform/projects/${project.id}/collections/${name} {"access":"private"}`;
  const hints = [headers[hintHeader], advice, how].filter((hint) => hint !== undefined);
  return { ...headers, [hintHeader]: hints.join(' ') };
};
