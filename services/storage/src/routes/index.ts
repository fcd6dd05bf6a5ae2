import type { MountedRoute } from '@backlot/http';
import type { Nouns } from '../nouns.ts';
import { appendResumable } from './append-resumable.ts';
import { completeUpload } from './complete-upload.ts';
import { createResumable } from './create-resumable.ts';
import { deleteFile } from './delete-file.ts';
import { deleteResumable } from './delete-resumable.ts';
import { getFile } from './get-file.ts';
import { getResumable } from './get-resumable.ts';
import { listFiles } from './list-files.ts';
import { listProjectFiles } from './list-project-files.ts';
import { openUpload } from './open-upload.ts';
import { signFile } from './sign-file.ts';
import { uploadFile } from './upload-file.ts';

export const routesOf = (nouns: Nouns): MountedRoute[] =>
  [
    ...[uploadFile, openUpload, completeUpload],
    ...[createResumable, getResumable, appendResumable, deleteResumable],
    ...[listFiles, getFile, signFile, deleteFile, listProjectFiles],
  ].map((each) => each(nouns));
