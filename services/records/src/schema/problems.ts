import { ApiError, type Problem } from '@backlot/contract';

/** Of one answer: who sends more has enough to mend. */
export const maxProblems = 20;
/** Named by the sentence itself. */
const maxNamed = 3;

/** `items[3].price`, cut where it is long. */
export const formatPath = (path: readonly (string | number)[]): string =>
  path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step.slice(0, 60)}`))
    .join('')
    .replace(/^\./, '')
    .toWellFormed()
    .slice(0, 200);

const sentence = (problems: readonly Problem[]): string => {
  const named = problems
    .slice(0, maxNamed)
    .map(({ operation, path, message }) => {
      const place = operation === undefined ? '' : `${operation}: `;
      return `${place}${JSON.stringify(path)} ${message}`;
    })
    .join('; ');
  const more = problems.length - maxNamed;
  return `This does not fit: ${named}${more > 0 ? `; and ${more} more` : ''}.`;
};

export interface SchemaPlace {
  project: { id: string };
  collection: { name: string };
}

/** What a write is refused with: all that is wrong with it. */
export const schemaMismatch = (
  problems: readonly Problem[],
  { project, collection }: SchemaPlace,
): ApiError => {
  const kept = problems.slice(0, maxProblems);
  return new ApiError('schema_mismatch', sentence(kept), {
    problems: kept,
    hint: `The schema of the collection "${collection.name}" says so; the project’s owner sets it by PUT /api/platform/projects/${project.id}/collections/${collection.name} {"schema": …}.`,
  });
};
