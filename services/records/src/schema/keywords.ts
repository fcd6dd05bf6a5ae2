import { nearestName } from '@backlot/http';

/** Which say something to people, and nothing of values. */
export const annotations = ['title', 'description', '$comment', 'examples', 'deprecated'];

const severalTypes =
  'Several types are {"type": ["string", "null"]}, several values {"enum": […]}.';
const inPlace = 'Write it out where it is used.';
const acrossFields = 'What one field asks of another can not be said.';
const otherNames =
  '"additionalProperties" takes false, or one schema for all fields that "properties" has not.';
const oneForAll = '"items" takes one schema for all elements.';

/** Of JSON Schema, and what is there instead. */
const instead: Readonly<Record<string, string>> = {
  anyOf: severalTypes,
  oneOf: severalTypes,
  nullable: severalTypes,
  allOf: 'Write them as one schema.',
  not: acrossFields,
  if: acrossFields,
  // biome-ignore lint/suspicious/noThenProperty: the keyword's name
  then: acrossFields,
  else: acrossFields,
  dependentRequired: acrossFields,
  dependentSchemas: acrossFields,
  dependencies: acrossFields,
  $ref: inPlace,
  $defs: inPlace,
  definitions: inPlace,
  $id: 'Leave it out.',
  patternProperties: otherNames,
  propertyNames: otherNames,
  unevaluatedProperties: otherNames,
  prefixItems: oneForAll,
  contains: oneForAll,
  unevaluatedItems: oneForAll,
  additionalItems: oneForAll,
  multipleOf: 'Whole numbers are {"type": "integer"}.',
  readOnly: 'What the server writes is "x-set"; who may change a field is said in "access".',
  writeOnly: 'Who sees a field is said in "access".',
};

/** Why a keyword is refused, for whoever wrote it. */
export const describeUnknown = (keyword: string, known: readonly string[]): string => {
  if (Object.hasOwn(instead, keyword)) return instead[keyword] ?? '';
  const nearest = nearestName(keyword, known);
  return nearest ? `Did you mean "${nearest}"?` : `There are: ${known.join(', ')}.`;
};
