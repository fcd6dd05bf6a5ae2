import type { MountedRoute } from '@backlot/http';
import type { Features } from './features.ts';
import { deleteFile, listFiles, listProjectFiles, signFile } from './files.ts';
import { getFile } from './get-file.ts';
import {
  appendResumable,
  createResumable,
  deleteResumable,
  getResumable,
} from './resumable-uploads.ts';
import { completeUpload, openUpload, uploadFile } from './uploads.ts';

export const createRoutes = (features: Features): MountedRoute[] =>
  [
    uploadFile,
    openUpload,
    completeUpload,
    createResumable,
    getResumable,
    appendResumable,
    deleteResumable,
    listFiles,
    getFile,
    signFile,
    deleteFile,
    listProjectFiles,
  ].map((createRoute) => createRoute(features));
