/**
 * Files: what a project's callers upload, who may see it, and its way to a browser without harm. Owns
 * the schema `storage` and the blobs behind it. Refuses to know what an owner has left (the gateway
 * reserves) and how usage is booked (the projects service's ledger).
 */
import {
  type KeyDirectory,
  type ProjectDirectory,
  type RecordDirectory,
  storageRoutes,
  type UserDirectory,
} from '@backlot/contract';
import { mostBatched } from '@backlot/database';
import { connections, cpuWork, outsideCalls } from '@backlot/fair-shares';
import {
  createNoteFindings,
  createRecordUsage,
  createTellApp,
  defineService,
  type ServiceContext,
} from '@backlot/service';
import { createFilesArchive } from './archive/files-archive.ts';
import type { BlobStore } from './blob-store/blob-store.ts';
import { createFindStore } from './blob-store/find-store.ts';
import { createUnclaimedBlobs, renewMs } from './blob-store/unclaimed-blobs.ts';
import { type StorageConfig, storageConfig } from './config.ts';
import { createAppOrigins } from './files/app-origins.ts';
import { createFileDirectory } from './files/file-directory.ts';
import { createFileLists } from './files/file-lists.ts';
import { createFiles } from './files/files.ts';
import { createLinks } from './files/links.ts';
import { createMergedUsers } from './files/merged-users.ts';
import { createNewFiles } from './files/new-files.ts';
import { createQuota } from './files/quota.ts';
import { createRecordFiles } from './files/readers/record-files.ts';
import { createSigners } from './files/readers/signers.ts';
import { createRemovals } from './files/removals.ts';
import { createImageDirectory } from './images/image-directory.ts';
import { createImageProcesses } from './images/image-processes.ts';
import { createImages } from './images/images.ts';
import { internalRouter } from './internal.ts';
import { createResumableUploads } from './resumable/resumable-uploads.ts';
import { createRoutes } from './routes/index.ts';
import { createTransferPlaces } from './transfer-places.ts';
import { createDirectUploads } from './upload/direct-uploads.ts';
import { createUploads } from './upload/uploads.ts';

/**
 * Files that become rows at a time. Those of a project are written together, and a connection is shared out once more.
 */
const rowShares = { places: 4 * mostBatched, perOwner: 2 * mostBatched, perProject: mostBatched };

/** Of files that callers sent to S3. They leave most of the connections to S3 to everything else. */
const copyShares = { places: 24 };

/** Quick images in work at a time, besides the others. */
const quickImages = 1;

export interface StorageContext extends ServiceContext<StorageConfig> {
  store: BlobStore;
  projects: ProjectDirectory;
  keys: KeyDirectory;
  users: UserDirectory;
  /** For files that are open to those who may read a record. */
  records: RecordDirectory;
}

export const storageService = defineService({
  name: 'storage',
  migrations: new URL('../migrations/', import.meta.url),
  config: storageConfig,
  asks: ['projects', 'keys', 'users', 'records'],
  build(context: StorageContext) {
    const { database, outbox, now, log, config, store, projects } = context;
    const unclaimedBlobs = createUnclaimedBlobs(database, store, now, (err) =>
      log.error({ err }, 'blob not removed; retrying'),
    );
    const links = createLinks(config, now);
    const recordUsage = createRecordUsage(outbox, storageRoutes.uploadPrice, now);
    const tellApp = createTellApp(outbox, now);
    const recordFiles = createRecordFiles(context.records, now);
    const quota = createQuota(database, unclaimedBlobs, config);
    const findings = createNoteFindings(outbox, now);
    const files = createFiles({
      database,
      unclaimedBlobs,
      recordUsage,
      tellApp,
      quota,
      findings,
      now,
    });
    const uploadPlaces = createTransferPlaces({
      what: 'uploads',
      places: config.maxUploads,
      patienceMs: 3000,
      maxWaitMs: 5000,
    });
    const downloadPlaces = createTransferPlaces({
      what: 'downloads',
      places: config.maxDownloads,
      patienceMs: 10_000,
      maxWaitMs: 20_000,
    });
    const uploads = createUploads({
      store,
      unclaimedBlobs,
      quota,
      places: uploadPlaces,
      recordFiles,
      config,
    });
    const signers = createSigners({ ...context, recordFiles });
    const opened = { database, store, unclaimedBlobs, quota, signers, recordFiles, now };
    const copies = outsideCalls(copyShares);
    const directUploads = createDirectUploads({ ...opened, copies });
    const resumableUploads = createResumableUploads({ ...opened, files, places: uploadPlaces });
    const removals = createRemovals({ database, unclaimedBlobs, quota, tellApp, now });
    const mergedUsers = createMergedUsers({ database, quota, removals, now });
    const rows = connections(rowShares);
    const newFiles = createNewFiles(files, rows);
    const imageShares = cpuWork({
      places: config.images.concurrency,
      quickPlaces: quickImages,
      perAddress: Math.max(1, Math.floor(config.images.concurrency / 2)),
    });
    const imageProcesses = createImageProcesses({
      processes: config.images.concurrency + quickImages,
      maxPixels: config.images.maxPixels,
      folder: store.folder,
    });
    const images = createImages({
      database,
      store,
      unclaimedBlobs,
      quota,
      now,
      shares: imageShares,
      processes: imageProcesses,
    });
    const directories = {
      images: createImageDirectory({ database, files, images, store, recordFiles }),
      files: createFileDirectory({ database, files, store, recordFiles }),
    };
    const filesArchive = createFilesArchive({ database, store, unclaimedBlobs, quota });
    const sweepBlobs = async () => {
      await unclaimedBlobs.renewLeases();
      await unclaimedBlobs.sweep();
    };
    return {
      routes: createRoutes({
        files,
        fileLists: createFileLists(database, links),
        quota,
        removals,
        images,
        uploads,
        directUploads,
        resumableUploads,
        newFiles,
        links,
        store,
        downloadPlaces,
        config,
        now,
        signers,
        recordFiles,
        findAppOrigins: createAppOrigins(projects),
      }),
      internal: internalRouter({ ...directories, filesArchive }),
      needs: [createFindStore(store)],
      queues: { newFiles: rows, copies, images: imageShares },
      subscriptions: {
        async 'user.erased'({ projectNumber, userId }) {
          await removals.eraseUser(projectNumber, userId);
          await resumableUploads.eraseUser(projectNumber, userId);
        },
        'user.merged': ({ projectNumber, guestId, userId }) =>
          mergedUsers.merge(projectNumber, guestId, userId),
        async 'project.erased'({ projectNumber }) {
          await directUploads.eraseProject(projectNumber);
          await resumableUploads.eraseProject(projectNumber);
          await removals.eraseProject(projectNumber);
        },
      },
      sweeps: [
        { run: sweepBlobs, everyMs: renewMs },
        findings.sweep,
        ...[removals, directUploads, resumableUploads].map(({ sweep }) => ({ run: sweep })),
      ],
      async stop() {
        await imageProcesses.close();
        await findings.reportAll();
      },
      api: {
        directories: { ...directories, filesArchive },
        /** Tells what was noted of files; also runs every five seconds. */
        reportFindings: findings.report,
        /** Removes what killed processes have left; runs by itself every quarter of a minute. */
        sweepBlobs: () => database.acrossProjects(sweepBlobs),
      },
    };
  },
});
