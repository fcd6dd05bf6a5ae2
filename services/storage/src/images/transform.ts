import sharp, { type Sharp } from 'sharp';

export type ImageFormat = 'webp' | 'avif' | 'jpeg' | 'png';

export interface Transformation {
  width?: number | undefined;
  height?: number | undefined;
  fit: 'inside' | 'cover' | 'contain';
  format: ImageFormat;
}

// One thread for an image, and no cache: memory is bounded by the images in work.
sharp.concurrency(1);
sharp.cache(false);

const encode = (image: Sharp, format: ImageFormat): Sharp => {
  switch (format) {
    case 'webp':
      return image.webp({ quality: 80 });
    case 'avif':
      // Others' images wait meanwhile; more effort takes several times as long for a few percent of the size.
      return image.avif({ quality: 50, effort: 0 });
    case 'jpeg':
      return image.flatten({ background: 'white' }).jpeg({ quality: 80 });
    case 'png':
      return image.png();
  }
};

type Size = Pick<Transformation, 'width' | 'height' | 'fit'>;

/**
 * Where both sides are asked for, `cover` and `contain` keep their proportions: what is larger than the
 * source is made smaller, both sides alike, until it fits into it.
 */
const fitIntoSource = (
  { width, height, fit }: Size,
  source: { width: number; height: number },
): Size => {
  if (width === undefined || height === undefined) return { width, height, fit: 'inside' };
  if (fit === 'inside') return { width, height, fit };
  const scale = Math.min(1, source.width / width, source.height / height);
  return {
    width: Math.max(1, Math.round(width * scale)),
    height: Math.max(1, Math.round(height * scale)),
    fit,
  };
};

/**
 * A smaller or differently encoded image: turned the right way up, never larger than its source, without
 * any of the source's metadata (EXIF, GPS, profiles). An animation becomes its first picture.
 * @param maxPixels a source with more is not decoded
 * @throws Error where the image can not be read
 */
export const transform = async (
  source: Uint8Array,
  { format, ...asked }: Transformation,
  maxPixels: number,
): Promise<Buffer> => {
  const image = sharp(source, {
    limitInputPixels: maxPixels,
    sequentialRead: true,
    autoOrient: true,
    pages: 1,
    // Some phones write JPEGs of which libjpeg warns, and which every browser shows.
    failOn: 'error',
  });
  const { width, height, fit } = fitIntoSource(asked, (await image.metadata()).autoOrient);
  const resized = image.resize({
    ...(width === undefined ? {} : { width }),
    ...(height === undefined ? {} : { height }),
    fit,
    withoutEnlargement: true,
    background: { r: 0, g: 0, b: 0, alpha: 0 },
  });
  return encode(resized, format).toBuffer();
};
