/** Of a mail that is filled in: as much as one in own words may have. */
export const maxMailBytes = 256 * 1024;
/** Of a list whose field says nothing else. */
export const defaultItems = 50;
