import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pMemoize from 'p-memoize';
import type { Sharp } from 'sharp';

export const imageFormats = ['webp', 'avif', 'jpeg', 'png'] as const;
export type ImageFormat = (typeof imageFormats)[number];

export interface Transformation {
  width?: number | undefined;
  height?: number | undefined;
  fit: 'inside' | 'cover' | 'contain';
  format: ImageFormat;
}

export interface TransformLimits {
  /** A source with more is not decoded. */
  maxPixels: number;
  timeoutSeconds: number;
}

/** The image can not be read, or not within the limits. */
export class ImageRefused extends Error {
  override readonly name = 'ImageRefused';
}

/** When the first image comes: it takes memory. */
const loadSharp = pMemoize(async () => {
  const { default: sharp } = await import('sharp');
  // One thread for an image, and no cache: memory is bounded by the images in work.
  sharp.concurrency(1);
  sharp.cache(false);
  return sharp;
});

const encode = (image: Sharp, format: ImageFormat): Sharp => {
  switch (format) {
    case 'webp':
      return image.webp({ quality: 80 });
    case 'avif':
      // Others' images wait meanwhile: 1400 pixels take 120 to 210 ms of CPU, and 415 to 840 with effort 2, whose
      // sizes differ by a few percent.
      return image.avif({ quality: 50, effort: 0 });
    case 'jpeg':
      return image.flatten({ background: 'white' }).jpeg({ quality: 80 });
    case 'png':
      return image.png();
  }
};

/**
 * A smaller or differently encoded image: turned the right way up, never enlarged, without any of the
 * source's metadata (EXIF, GPS, profiles). An animation becomes its first picture.
 * @throws ImageRefused, and what the source stream throws
 */
export const transform = async (
  openSource: () => Promise<Readable>,
  { width, height, fit, format }: Transformation,
  { maxPixels, timeoutSeconds }: TransformLimits,
): Promise<Buffer> => {
  const sharp = await loadSharp();
  const source = await openSource();
  const image = sharp({
    limitInputPixels: maxPixels,
    sequentialRead: true,
    autoOrient: true,
    pages: 1,
  })
    .timeout({ seconds: timeoutSeconds })
    .resize({
      ...(width === undefined ? {} : { width }),
      ...(height === undefined ? {} : { height }),
      fit,
      withoutEnlargement: true,
      background: { r: 0, g: 0, b: 0, alpha: 0 },
    });
  const output = encode(image, format)
    .toBuffer()
    .catch((cause: unknown) => {
      throw new ImageRefused('the image can not be read', { cause });
    });
  // Thrown below, after the source's own error.
  output.catch(() => {});
  await pipeline(source, image).catch((error: unknown) => {
    // sharp may refuse the image before the source's end.
    if (source.errored) throw error;
  });
  return output;
};
