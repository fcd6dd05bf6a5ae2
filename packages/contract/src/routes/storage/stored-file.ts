import { z } from 'zod';
import { timestamp, uuid } from '../../schemas.ts';

export const visibility = z.enum(['public', 'private']);

export type Visibility = z.infer<typeof visibility>;

export const uploaded = z.object({
  id: uuid,
  url: z.string(),
  name: z.string(),
  size: z.int().min(0).describe('Bytes'),
});

export const typed = uploaded
  .extend({
    type: z.string().describe('Media type, told from the content'),
  })
  .meta({ id: 'UploadedFile' });

export const listed = typed
  .extend({
    visibility,
    ownerId: uuid.nullable().describe('The user who uploaded it'),
    groupId: uuid.nullable().describe('The group that it belongs to'),
    recordId: uuid.nullable().describe('The record whose readers may open it'),
    createdAt: timestamp,
  })
  .meta({ id: 'StoredFile' });

export type StoredFile = z.infer<typeof listed>;
