import type { FieldShape } from '@backlot/contract';
import { inferFields } from '../../shape/infer-fields.ts';
import type { Document } from '../../shape/sample.ts';

export interface KnownFields {
  fields: ReadonlyMap<string, FieldShape>;
  hasMoreFields: boolean;
  /** Short strings that a field has, as many as were kept. */
  texts: ReadonlyMap<string, ReadonlySet<string>>;
  isEmpty: boolean;
  /** Of its texts, about. */
  sizeBytes: number;
}

const maxTextLength = 64;
const maxTextsPerField = 100;

const addTexts = (value: unknown, path: string, texts: Map<string, Set<string>>): void => {
  if (typeof value === 'string') {
    const known = texts.get(path);
    if (known && known.size < maxTextsPerField && value.length <= maxTextLength) known.add(value);
  } else if (Array.isArray(value)) {
    for (const item of value) addTexts(item, path, texts);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, nested] of Object.entries(value))
      addTexts(nested, path === '' ? name : `${path}.${name}`, texts);
  }
};

export const knowFields = (documents: readonly Document[]): KnownFields => {
  const { fields, hasMoreFields } = inferFields(documents);
  const texts = new Map(fields.map(({ path }) => [path, new Set<string>()]));
  for (const document of documents) addTexts(document, '', texts);
  return {
    fields: new Map(fields.map((field) => [field.path, field])),
    hasMoreFields,
    texts,
    isEmpty: documents.length === 0,
    sizeBytes: JSON.stringify([fields, ...[...texts.values()].map((known) => [...known])]).length,
  };
};
