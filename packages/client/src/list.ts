export interface List<T> {
  items: T[];
  hasMore: boolean;
  nextCursor: string | null;
}
