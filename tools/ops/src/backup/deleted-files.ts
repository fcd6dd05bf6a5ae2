import type pg from 'pg';

const deleteImages = [
  'DELETE FROM storage.images',
  'UPDATE storage.totals SET image_bytes = 0 WHERE image_bytes <> 0',
];

const deleteFiles = `
  WITH gone AS (DELETE FROM storage.files WHERE blob_key = ANY ($1) RETURNING project_number, id, size_bytes),
       uploads AS (DELETE FROM storage.resumable_uploads u USING gone WHERE u.project_number = gone.project_number AND u.id = gone.id),
       sums AS (SELECT project_number, count(*) AS files, sum(size_bytes) AS bytes FROM gone GROUP BY 1)
  UPDATE storage.totals t SET files = t.files - sums.files, bytes = t.bytes - sums.bytes
    FROM sums WHERE sums.project_number = t.project_number`;

/** Images are made from files again; files that were deleted while the back-up was made stay deleted. */
export const deleteFileRows = async (
  client: pg.ClientBase,
  blobKeys: readonly string[],
): Promise<void> => {
  for (const statement of deleteImages) await client.query(statement);
  await client.query(deleteFiles, [blobKeys]);
};
