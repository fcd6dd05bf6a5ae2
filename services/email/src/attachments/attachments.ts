import {
  ApiError,
  emailRoutes,
  type FileDescription,
  type FileDirectory,
  MIB,
} from '@backlot/contract';
import { heldMemory } from '@backlot/fair-shares';
import type { Identity } from '@backlot/identity';
import { type Attachment, MailRefused } from '../mailer/mailer.ts';

const { maxAttachedBytes, maxAttachments } = emailRoutes;

/** Mails whose files are in memory at a time: until the hand-over they may take several times their size. */
export const filesInMemory = 2;
const shares = { places: filesInMemory, maxWaiting: 800 };

const wrong = (message: string, hint?: string) =>
  new ApiError('invalid_body', `"attachments": ${message}`, hint === undefined ? {} : { hint });

const checkSizes = (files: readonly FileDescription[]): void => {
  const empty = files.find(({ size }) => size === 0);
  if (empty) throw wrong(`the file ${empty.id} is empty, and mail programs drop it.`);
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (bytes > maxAttachedBytes)
    throw wrong(
      `the files have ${bytes} bytes together, and may have ${maxAttachedBytes / MIB} MB.`,
      'Put the address of a public file, or a signed one (POST /storage/files/<id>/sign), into "html".',
    );
};

export type Attachments = ReturnType<typeof createAttachments>;

/** Files that go along with mails: described when a mail is accepted, read when it is handed over. */
export const createAttachments = (directory: FileDirectory) => {
  const places = heldMemory(shares);

  const read = async (projectNumber: number, { id, name, type }: FileDescription) => {
    const content = await directory.readFile(projectNumber, id).catch((cause: unknown) => {
      const reason = 'The attached files can not be read at the moment.';
      throw new MailRefused(reason, { isTemporary: true, cause });
    });
    if (!content)
      throw new MailRefused(`The attached file "${name}" has been deleted.`, {
        isTemporary: false,
      });
    return { name, type, content };
  };

  return {
    places,

    /** Each once, in the order given. @throws ApiError invalid_body, unavailable */
    async describe(identity: Identity, fileIds: readonly string[]): Promise<FileDescription[]> {
      const unique = [...new Set(fileIds.map((id) => id.toLowerCase()))];
      if (unique.length === 0) return [];
      const { project, caller, userId, role, emailVerified, groups, ip } = identity;
      const { id, number, ownerId } = project;
      const reader = { project: { id, number, ownerId }, caller, userId, ip };
      const files = await directory
        .describeFiles({
          ...reader,
          ...(role !== undefined && { role }),
          ...(emailVerified && { emailVerified }),
          ...(groups && { groups }),
          fileIds: unique,
        })
        .catch((cause: unknown) => {
          const message = 'The files can not be looked up. Try again shortly.';
          throw new ApiError('unavailable', message, { cause, retryAfterSeconds: 2 });
        });
      const missing = unique.find((fileId) => !files.some((file) => file.id === fileId));
      if (missing !== undefined)
        throw wrong(
          `there is no file ${missing} that you may read.`,
          'Upload it first (POST /storage/upload); the answer has its id.',
        );
      checkSizes(files);
      return files;
    },

    /**
     * Reads the files and does the work with them in memory; few do so at a time.
     * @throws MailRefused where a file is gone, or can not be read at the moment
     */
    async use<T>(
      project: { id: string; number: number },
      files: readonly FileDescription[],
      work: (attachments: Attachment[]) => Promise<T>,
    ): Promise<T> {
      if (files.length === 0) return work([]);
      const requester = [`project ${project.id}`, project.id, project.id] as const;
      const free = await places.take(requester);
      try {
        const attachments: Attachment[] = [];
        for (const file of files.slice(0, maxAttachments))
          attachments.push(await read(project.number, file));
        return await work(attachments);
      } finally {
        free();
      }
    },
  };
};
