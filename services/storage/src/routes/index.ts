import type { MountedRoute } from '@backlot/http';
import type { Features } from './features.ts';
import {
  attachFile,
  deleteFile,
  listFiles,
  listFileTypes,
  listProjectFiles,
  signFile,
} from './files.ts';
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
    attachFile,
    deleteFile,
    listProjectFiles,
    listFileTypes,
  ].map((createRoute) => createRoute(features));
