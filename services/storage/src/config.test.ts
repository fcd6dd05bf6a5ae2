import { halfOfCores } from '@backlot/fair-shares';
import { describe, expect, it } from '@jest/globals';
import { storageConfig } from './config.ts';

const key = Buffer.alloc(32, 7);
const keys = { BACKLOT_SECRETS_KEYS: key.toString('base64') };
const needed = { ...keys, BACKLOT_STORAGE_DIR: '/files' };
const blobs = (env: Record<string, string>) => storageConfig.read({ ...keys, ...env }).blobs;
const GIB = 1024 ** 3;

describe('the settings', () => {
  it('need a master key, the rest has defaults', () => {
    expect(() => storageConfig.read({})).toThrow('BACKLOT_SECRETS_KEYS');
    expect(storageConfig.read(needed)).toEqual({
      blobs: { kind: 'filesystem', directory: '/files' },
      filesUrl: 'http://localhost:8080',
      masterKeys: [key],
      quotaBytes: 10 * GIB,
      maxUploads: 256,
      maxDownloads: 512,
      uploadIdleMs: 20_000,
      redirects: false,
      images: { maxPixels: 50_000_000, concurrency: halfOfCores },
    });
  });

  it('put files on a host of their own where one is named', () => {
    const BACKLOT_PUBLIC_URL = 'https://api.example.com/';
    const BACKLOT_FILES_URL = 'https://files.example.com/';
    expect(storageConfig.read({ ...needed, BACKLOT_PUBLIC_URL }).filesUrl).toBe(
      'https://api.example.com',
    );
    expect(storageConfig.read({ ...needed, BACKLOT_PUBLIC_URL, BACKLOT_FILES_URL }).filesUrl).toBe(
      'https://files.example.com',
    );
  });

  it('name one place for files, not none and not two', () => {
    expect(blobs({ BACKLOT_STORAGE_DIR: '/files' })).toEqual({
      kind: 'filesystem',
      directory: '/files',
    });
    expect(() => blobs({})).toThrow('BACKLOT_STORAGE_DIR');
    expect(() => blobs({ BACKLOT_STORAGE_DIR: '/files', BACKLOT_S3_BUCKET: 'bucket' })).toThrow(
      'one of the two',
    );
  });

  it('reach AWS by the standard chain, or a server of one’s own by its keys', () => {
    expect(blobs({ BACKLOT_S3_BUCKET: 'bucket', BACKLOT_STORAGE_DIR: '' })).toEqual({
      kind: 's3',
      bucket: 'bucket',
      region: 'us-east-1',
      endpoint: undefined,
      forcePathStyle: false,
      checksums: 'WHEN_SUPPORTED',
      encryption: undefined,
      kmsKeyId: undefined,
      credentials: undefined,
      bufferBytes: 40 * 1024 ** 2,
      readSockets: 512 + 64,
    });
    const own = {
      BACKLOT_S3_BUCKET: 'bucket',
      BACKLOT_S3_ENDPOINT: 'http://127.0.0.1:9000',
      BACKLOT_S3_PATH_STYLE: 'true',
      BACKLOT_S3_CHECKSUMS: 'WHEN_REQUIRED',
      BACKLOT_S3_ACCESS_KEY_ID: 'id',
      BACKLOT_S3_SECRET_ACCESS_KEY: 'secret',
    };
    expect(blobs(own)).toMatchObject({
      endpoint: 'http://127.0.0.1:9000',
      forcePathStyle: true,
      credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
    });
    expect(() => blobs({ ...own, BACKLOT_S3_SECRET_ACCESS_KEY: '' })).toThrow(
      'BACKLOT_S3_SECRET_ACCESS_KEY',
    );
  });
});
