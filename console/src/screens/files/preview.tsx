import type { BacklotError } from '@backlot/client';
import { useQuery } from '@tanstack/react-query';
import { useWhyNot } from '../../api/roles.ts';
import { Modal } from '../../parts/dialogs/modal.tsx';
import { Loading } from '../../parts/lists/loading.tsx';
import { Problem } from '../../parts/problem.tsx';
import { CopyButton } from '../../parts/snippet.tsx';
import { Takes } from '../../parts/takes.tsx';
import { formatBytes } from '../../parts/words/numbers.ts';
import { Time } from '../../parts/words/time.tsx';
import { openAddress, type StoredFile } from './file-address.ts';

/** Of a text, which is shown as far as this. */
const shownBytes = 64 * 1024;

const readText = async (address: string): Promise<string> => {
  const answer = await fetch(address, { headers: { Range: `bytes=0-${shownBytes - 1}` } });
  if (!answer.ok) throw new Error(`The file can not be read: ${answer.status}.`);
  return answer.text();
};

const TextContent = ({ address, size }: { address: string; size: number }) => {
  const text = useQuery({ queryKey: ['text', address], queryFn: () => readText(address) });
  if (text.error) return <Problem error={text.error} again={() => void text.refetch()} />;
  if (text.data === undefined) return <Loading />;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it with the arrows */}
      <pre className="preview-text" tabIndex={0}>
        {text.data}
      </pre>
      {size > shownBytes && <p className="quiet-text">Its first {formatBytes(shownBytes)}.</p>}
    </>
  );
};

const Content = ({
  file: { name, type, size },
  address,
}: {
  file: StoredFile;
  address: string;
}) => {
  if (type.startsWith('image/')) return <img className="preview-image" src={address} alt={name} />;
  // biome-ignore lint/a11y/useMediaCaption: what users upload has none
  if (type.startsWith('video/')) return <video className="preview-image" src={address} controls />;
  // biome-ignore lint/a11y/useMediaCaption: what users upload has none
  if (type.startsWith('audio/')) return <audio src={address} controls />;
  if (type === 'application/pdf')
    return <iframe className="preview-page" src={address} title={name} />;
  if (/^text\/|json$|xml$/.test(type) && size > 0)
    return <TextContent address={address} size={size} />;
  return <p className="quiet-text">A file of this type is not shown here; download it.</p>;
};

const readers = ({ visibility, groupId, recordId }: StoredFile) => {
  if (visibility === 'public') return 'whoever has its address';
  if (groupId) return 'the members of its group';
  return recordId ? 'whoever may read its record' : 'who uploaded it, and you';
};

interface PreviewProps {
  file: StoredFile;
  projectId: string;
  onClose(): void;
  onDelete(): void;
}

/** A file, and what is known of it. */
export const Preview = ({ file, projectId, onClose, onDelete }: PreviewProps) => {
  const why = useWhyNot()('signFile');
  const refusal = file.visibility === 'public' ? undefined : why;
  const address = useQuery<string, BacklotError>({
    queryKey: ['file address', projectId, file.id],
    queryFn: () => openAddress(projectId, file),
    enabled: !refusal,
  });
  const { id, name, type, size, createdAt, url } = file;
  return (
    <Modal title={name} isOpen onClose={onClose} isWide>
      {address.error && <Problem error={address.error} again={() => void address.refetch()} />}
      {address.data && <Content file={file} address={address.data} />}
      {refusal && <div className="callout info">To open it: {refusal}</div>}
      {!refusal && !address.data && !address.error && <Loading />}
      <dl className="facts">
        <dt>Type</dt>
        <dd>
          {type}, {formatBytes(size)}
        </dd>
        <dt>Opens to</dt>
        <dd>{readers(file)}</dd>
        <dt>Uploaded</dt>
        <dd>
          <Time at={createdAt} />
        </dd>
        <dt>Id</dt>
        <dd className="row">
          <span className="mono">{id}</span> <CopyButton text={id} />
        </dd>
      </dl>
      <footer>
        <Takes name="deleteFile">
          <button type="button" className="quiet" onClick={onDelete}>
            Delete…
          </button>
        </Takes>
        <CopyButton text={url} label="Copy address" />
        {address.data && (
          <a className="button" href={address.data} download={name}>
            Download
          </a>
        )}
        <button type="button" onClick={onClose}>
          Close
        </button>
      </footer>
    </Modal>
  );
};
