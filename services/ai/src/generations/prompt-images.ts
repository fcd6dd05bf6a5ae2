import { ApiError, type ChatMessage, type ImageDirectory } from '@backlot/contract';
import { type FairShares, toRequester } from '@backlot/fair-shares';
import type { Identity } from '@backlot/identity';

/** The images of a prompt, in memory until `free` is called. */
export interface PromptImages {
  /** JPEG in base64, by the id of the file. */
  images: ReadonlyMap<string, string>;
  free(): void;
}

export type LoadImages = (
  identity: Identity,
  messages: readonly ChatMessage[],
  signal: AbortSignal,
) => Promise<PromptImages>;

const noImages: PromptImages = { images: new Map(), free() {} };

/** @param shares of the memory that images take, one place for the images of a call */
export const createImageLoader = (directory: ImageDirectory, shares: FairShares): LoadImages => {
  const read = async (
    { project: { id, number, ownerId }, caller, userId, role, emailVerified, groups, ip }: Identity,
    fileId: string,
  ) => {
    const answer = await directory
      .readImage({
        project: { id, number, ownerId },
        caller,
        userId,
        ip,
        fileId,
        ...(role !== undefined && { role }),
        ...(emailVerified && { emailVerified }),
        ...(groups && { groups }),
      })
      .catch((cause: unknown) => {
        const message = 'The images can not be read. Try again shortly.';
        throw new ApiError('unavailable', message, { cause, retryAfterSeconds: 2 });
      });
    if ('data' in answer) return answer.data;
    const { code, message } = answer.refused;
    // What storage says of an address's query is said of this body.
    throw new ApiError(
      code === 'invalid_query' ? 'invalid_body' : code,
      `"messages": the image ${fileId}: ${message}`,
    );
  };

  return async (identity, messages, signal) => {
    const fileIds = new Set(
      messages.flatMap(({ parts = [] }) =>
        parts.flatMap((part) => (part.type === 'image' ? [part.fileId] : [])),
      ),
    );
    if (fileIds.size === 0) return noImages;
    const free = await shares.take(toRequester(identity), { signal });
    try {
      const images = new Map<string, string>();
      for (const fileId of fileIds) images.set(fileId, await read(identity, fileId));
      return { images, free };
    } catch (error) {
      free();
      throw error;
    }
  };
};
