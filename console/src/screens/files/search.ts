export interface FilesSearch {
  /** Id of the user whose files are shown. */
  owner?: string;
  /** Id of the group whose files are shown. */
  group?: string;
}

/** What of an address is known; the router leaves in what is not. */
export const toFilesSearch = ({ owner, group }: Record<string, unknown>): FilesSearch => ({
  ...(typeof owner === 'string' && owner !== '' && { owner }),
  ...(typeof group === 'string' && group !== '' && { group }),
});
