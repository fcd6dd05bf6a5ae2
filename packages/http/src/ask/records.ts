import type {
  CollectionShape,
  FilterDirectory,
  RecordChangeAnswer,
  RecordDirectory,
  ShapeDirectory,
} from '@backlot/contract';
import { createAsk, type HttpDirectoryOptions, jsonOrNull } from './ask.ts';

/** The records service asked for the shape of collections over HTTP. */
export const createHttpShapeDirectory = (options: HttpDirectoryOptions): ShapeDirectory => {
  const ask = createAsk(options, 'POST');
  return {
    async describe(asking) {
      const shapes = await jsonOrNull<CollectionShape[]>(await ask('/internal/shapes', asking));
      if (!shapes) throw new Error(`${options.origin} tells no shapes.`);
      return shapes;
    },
  };
};

/** The records service asked over HTTP what callers may do with a record. */
export const createHttpRecordDirectory = (options: HttpDirectoryOptions): RecordDirectory => {
  const ask = createAsk(options, 'POST');
  // An older version of the service does not know the questions.
  const unknown = () => new Error(`${options.origin} tells nothing of records.`);
  return {
    async mayChange(asking) {
      const path = '/internal/records/may-change';
      const answer = await jsonOrNull<RecordChangeAnswer>(await ask(path, asking));
      if (!answer) throw unknown();
      return answer;
    },
    async mayRead(asking) {
      const path = '/internal/records/may-read';
      const answer = await jsonOrNull<{ allowed: boolean }>(await ask(path, asking));
      if (!answer) throw unknown();
      return answer.allowed;
    },
  };
};

/** The records service asked over HTTP whether a filter can be used. */
export const createHttpFilterDirectory = (options: HttpDirectoryOptions): FilterDirectory => {
  const ask = createAsk(options, 'POST');
  return {
    async checkFilter(where) {
      const answer = await jsonOrNull<{ problem: string | null }>(
        await ask('/internal/filters/check', { where }),
      );
      // An older version of the service does not know the question.
      if (!answer) throw new Error(`${options.origin} tells nothing of filters.`);
      return answer.problem;
    },
  };
};
