import { ApiError, type FilterDirectory } from '@backlot/contract';
import type { Json } from './filter.ts';
import { parseFilter } from './parse.ts';

/** Whether what others keep of filters can be used. */
export const filterDirectory: FilterDirectory = {
  async checkFilter(where) {
    try {
      parseFilter(where as Json);
      return null;
    } catch (error) {
      if (error instanceof ApiError) return error.message;
      throw error;
    }
  },
};
