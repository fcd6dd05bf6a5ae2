/** Bounds on what one statement reads and answers. */
export interface ReadLimits {
  /** Most records looked at where no index leads to the answer. */
  scanRows: number;
  /** A page ends early where its documents are together larger; a single record always fits. */
  pageBytes: number;
}
