import type {
  FileDescription,
  FileDirectory,
  ImageAnswer,
  ImageDirectory,
} from '@backlot/contract';
import { createAsk, type HttpDirectoryOptions, jsonOrNull, nullWhereGone } from './ask.ts';

/** An image may wait for its turn, and takes up to ten seconds to make; a file of 10 MB comes from a store. */
const fileTimeoutMs = 20_000;

/** The storage service asked for images over HTTP. */
export const createHttpImageDirectory = (options: HttpDirectoryOptions): ImageDirectory => {
  const ask = createAsk(options, 'POST', fileTimeoutMs);
  return {
    async readImage(asking) {
      const answer = await jsonOrNull<ImageAnswer>(await ask('/internal/images', asking));
      if (!answer) throw new Error(`${options.origin} tells no images.`);
      return answer;
    },
  };
};

/** The storage service asked for files over HTTP. */
export const createHttpFileDirectory = (options: HttpDirectoryOptions): FileDirectory => {
  const ask = createAsk(options, 'POST', fileTimeoutMs);
  const path = '/internal/files';
  return {
    async describeFiles(asking) {
      const files = await jsonOrNull<FileDescription[]>(await ask(path, asking));
      if (!files) throw new Error(`${options.origin} describes no files.`);
      return files;
    },
    async readFile(projectNumber, fileId) {
      const response = await ask(`${path}/content`, { projectNumber, fileId });
      if (response.status === 404) return nullWhereGone(response);
      return new Uint8Array(await response.arrayBuffer());
    },
  };
};
