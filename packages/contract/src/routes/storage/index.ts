export * from './files.ts';
export * from './get-file.ts';
export * from './resumable-uploads.ts';
export * from './upload-fields.ts';
export * from './uploads.ts';
