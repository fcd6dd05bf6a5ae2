import {
  ApiError,
  type CollectionShape,
  type RecordSchema,
  type ShapeDirectory,
} from '@backlot/contract';
import type { Database } from '@backlot/database';
import { type FairShares, toRequester, type YieldSlot } from '@backlot/fair-shares';
import { fullAccess } from '../collections/access.ts';
import type { Collections } from '../collections/collections.ts';
import type { CollectionSummary } from '../collections/table/summaries.ts';
import { inferFields } from './infer-fields.ts';
import { proposeSchema } from './propose-schema.ts';
import { sampleRecords, shapeBounds } from './sample.ts';

export interface ShapesDeps {
  database: Database;
  collections: Collections;
  scans: FairShares;
  monotonicNow?: () => number;
}

/** Who wants to know, for their share of the scans. */
export type Asking = Parameters<ShapeDirectory['describe']>[0] & { signal?: AbortSignal };

export interface ProposedSchema {
  schema: RecordSchema;
  sampled: number;
}

export interface Shapes extends ShapeDirectory {
  describe(asking: Asking): Promise<CollectionShape[]>;
  /** @throws ApiError not_found */
  describeOne(asking: Asking, name: string): Promise<CollectionShape>;
  /** A schema that a sample of the records fits. @throws ApiError not_found */
  proposeOne(asking: Asking, name: string): Promise<ProposedSchema>;
}

/** Collections that come after so much work, or after so many fields, are listed without a sample. */
const maxWorkMs = 2000;
const maxFieldsInAll = 5000;

const withoutSample = ({ name, access, count, schema }: CollectionSummary): CollectionShape => ({
  name,
  access,
  count,
  sampled: 0,
  fields: [],
  hasMoreFields: false,
  ...(schema && { schema }),
});

export const createShapes = ({
  database,
  collections,
  scans,
  monotonicNow = () => performance.now(),
}: ShapesDeps): Shapes => {
  const describeSample = async (
    projectNumber: number,
    summary: CollectionSummary,
    yieldSlot: YieldSlot,
  ): Promise<CollectionShape> => {
    const shape = withoutSample(summary);
    const collection = await collections.find(projectNumber, summary.name);
    if (!collection) return shape;
    const sampled = { collection, access: fullAccess(collection.access) };
    const documents = await sampleRecords(database, sampled, shapeBounds, yieldSlot);
    const indexed = new Set(
      summary.indexes.filter(({ state }) => state === 'ready').map(({ field }) => field),
    );
    const { fields, hasMoreFields } = inferFields(documents);
    return {
      ...shape,
      sampled: documents.length,
      hasMoreFields,
      fields: fields.map((field) =>
        indexed.has(field.path) ? { ...field, isIndexed: true as const } : field,
      ),
    };
  };

  const describeAll = (
    { project, ip, signal }: Asking,
    isWanted: (summary: CollectionSummary) => boolean = () => true,
  ) =>
    scans.run(
      toRequester({ project, ip }),
      async (yieldSlot) => {
        const summaries = (await collections.list(project.number)).filter(isWanted);
        const shapes: CollectionShape[] = [];
        let workedMs = 0;
        let fields = 0;
        for (const summary of summaries) {
          await yieldSlot();
          const startedAt = monotonicNow();
          const hasRoom = workedMs < maxWorkMs && fields < maxFieldsInAll;
          const shape = hasRoom
            ? await describeSample(project.number, summary, yieldSlot)
            : withoutSample(summary);
          shapes.push(shape);
          fields += shape.fields.length;
          workedMs += monotonicNow() - startedAt;
        }
        return shapes;
      },
      { signal },
    );

  return {
    describe: (asking) => describeAll(asking),
    async describeOne(asking, name) {
      const [shape] = await describeAll(asking, (summary) => summary.name === name);
      if (!shape) throw new ApiError('not_found', 'There is no such collection.');
      return shape;
    },
    proposeOne: ({ project, ip, signal }, name) =>
      scans.run(
        toRequester({ project, ip }),
        async (yieldSlot) => {
          const collection = await collections.find(project.number, name);
          if (!collection) throw new ApiError('not_found', 'There is no such collection.');
          const sampled = { collection, access: fullAccess(collection.access) };
          const documents = await sampleRecords(database, sampled, shapeBounds, yieldSlot);
          return { schema: proposeSchema(documents), sampled: documents.length };
        },
        { signal },
      ),
  };
};
