import { useEffect, useRef, useState } from 'react';
import { projectClient } from '../../api/session.ts';
import { type StoredFile, thumbnailPath, thumbnailSize } from './file-address.ts';

interface ThumbnailProps {
  file: StoredFile;
  projectId: string;
}

/** A private image comes with the token, once it is in view. */
const PrivateImage = ({
  file: { id },
  projectId,
  onError,
}: ThumbnailProps & { onError(): void }) => {
  const place = useRef<HTMLSpanElement>(null);
  const [src, setSrc] = useState<string>();
  const failed = useRef(onError);
  failed.current = onError;
  useEffect(() => {
    let made: string | undefined;
    let isGone = false;
    const load = async () => {
      const content = await projectClient(projectId).storage.open(id, thumbnailSize);
      if (isGone) return;
      made = URL.createObjectURL(content);
      setSrc(made);
    };
    const watch = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      watch.disconnect();
      load().catch(() => failed.current());
    });
    if (place.current) watch.observe(place.current);
    return () => {
      isGone = true;
      watch.disconnect();
      if (made) URL.revokeObjectURL(made);
    };
  }, [projectId, id]);
  return (
    <span ref={place} className="thumbnail">
      {src && <img src={src} alt="" onError={onError} />}
    </span>
  );
};

/** What kind it is, where there is no picture: `pdf`. */
const kindWord = (type: string) => {
  const [main = '', rest = ''] = type.split(/[/;]/);
  return main === 'application' ? rest.replace(/^(x-|vnd\.)/, '').slice(0, 4) : main.slice(0, 5);
};

/** A small picture of an image; of all else its kind. */
export const Thumbnail = ({ file, projectId }: ThumbnailProps) => {
  const [hasFailed, setFailed] = useState(false);
  if (!file.type.startsWith('image/') || hasFailed)
    return (
      <span className="thumbnail kind" aria-hidden>
        {kindWord(file.type)}
      </span>
    );
  const fail = () => setFailed(true);
  if (file.visibility === 'private')
    return <PrivateImage file={file} projectId={projectId} onError={fail} />;
  return (
    <span className="thumbnail">
      <img src={thumbnailPath(file)} alt="" loading="lazy" onError={fail} />
    </span>
  );
};
