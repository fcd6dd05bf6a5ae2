import { useQueryClient } from '@tanstack/react-query';
import { type DragEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { useWhyNot } from '../../api/roles.ts';
import { projectClient } from '../../api/session.ts';
import { Problem } from '../../parts/problem.tsx';
import { Takes } from '../../parts/takes.tsx';
import { formatBytes } from '../../parts/words/numbers.ts';
import { inOrder } from '../../parts/words/visible-text.ts';

type Visibility = 'public' | 'private';

interface Upload {
  key: number;
  file: File;
  visibility: Visibility;
  sent: number;
  state: 'waiting' | 'running' | 'done' | 'failed';
  error?: Error;
}

interface UploadsProps {
  projectId: string;
  children: ReactNode;
}

const reads = ['listProjectFiles', 'listFileTypes'];
let lastKey = 0;

/** One after the other, so that each has all of the line. */
const useUploads = (projectId: string) => {
  const client = useQueryClient();
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const queue = useRef<Promise<unknown>>(Promise.resolve());
  const set = (key: number, change: Partial<Upload>) =>
    setUploads((all) => all.map((one) => (one.key === key ? { ...one, ...change } : one)));

  const send = async ({ key, file, visibility }: Upload) => {
    set(key, { state: 'running' });
    try {
      await projectClient(projectId).storage.upload(file, {
        visibility,
        onProgress: (sent: number, total: number) =>
          set(key, { sent: (sent / Math.max(total, 1)) * file.size }),
      });
      set(key, { state: 'done', sent: file.size });
    } catch (error) {
      set(key, { state: 'failed', error: error as Error });
    }
    for (const read of reads) void client.invalidateQueries({ queryKey: [read] });
  };
  const enqueue = (upload: Upload) => {
    queue.current = queue.current.then(() => send(upload));
  };
  const add = (files: readonly File[], visibility: Visibility) => {
    const added = files.map((file): Upload => {
      lastKey += 1;
      return { key: lastKey, file, visibility, sent: 0, state: 'waiting' };
    });
    setUploads((all) => [...added, ...all.filter(({ state }) => state !== 'done')]);
    for (const upload of added) enqueue(upload);
  };
  const again = ({ error: _, ...failed }: Upload) => {
    const upload: Upload = { ...failed, sent: 0, state: 'waiting' };
    setUploads((all) => all.map((one) => (one.key === upload.key ? upload : one)));
    enqueue(upload);
  };
  const forget = (key: number) => setUploads((all) => all.filter((one) => one.key !== key));
  return { uploads, add, again, forget };
};

/** Whoever leaves the page while something is on its way is asked. */
const useWarning = (isRunning: boolean) =>
  useEffect(() => {
    if (!isRunning) return undefined;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [isRunning]);

const words = { waiting: 'waits', running: '', done: 'uploaded', failed: 'not uploaded' };

interface UploadLineProps {
  upload: Upload;
  again(): void;
  forget(): void;
}

const UploadLine = ({ upload, again, forget }: UploadLineProps) => {
  const { file, sent, state, error } = upload;
  const share = file.size === 0 ? 0 : Math.round((sent / file.size) * 100);
  return (
    <li className="stack close">
      <div className="spread">
        <span className="cut file-name">
          <bdi>{inOrder(file.name)}</bdi>
        </span>
        <span className="row">
          <span className="quiet-text" aria-live="polite">
            {state === 'running' ? `${share} % of ${formatBytes(file.size)}` : words[state]}
          </span>
          {state === 'failed' && (
            <button type="button" className="small" onClick={forget}>
              Close
            </button>
          )}
        </span>
      </div>
      {state === 'running' && (
        <progress className="upload-progress" aria-label={file.name} max={100} value={share} />
      )}
      <Problem error={error} again={again} />
    </li>
  );
};

/** A place where files are dropped or chosen, with what is on its way; around the list. */
export const Uploads = ({ projectId, children }: UploadsProps) => {
  const { uploads, add, again, forget } = useUploads(projectId);
  const [visibility, setVisibility] = useState<Visibility>('private');
  const [isOver, setOver] = useState(false);
  const refusal = useWhyNot()('uploadFile');
  const input = useRef<HTMLInputElement>(null);
  useWarning(uploads.some(({ state }) => state === 'running' || state === 'waiting'));
  const take = (files: FileList | null) => {
    if (!refusal && files && files.length > 0) add([...files], visibility);
  };
  const drag = (event: DragEvent, over: boolean) => {
    if (refusal || !event.dataTransfer.types.includes('Files')) return;
    event.preventDefault();
    setOver(over);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button does the same for who has no mouse
    <div
      className={`stack drop ${isOver ? 'over' : ''}`}
      onDragOver={(event) => drag(event, true)}
      onDragLeave={(event) => drag(event, false)}
      onDrop={(event) => {
        drag(event, false);
        take(event.dataTransfer.files);
      }}
    >
      <div className="row drop-line">
        <Takes name="uploadFile">
          <button type="button" onClick={() => input.current?.click()}>
            Choose files to upload
          </button>
          <input
            ref={input}
            type="file"
            multiple
            hidden
            aria-label="Files to upload"
            onChange={({ target }) => {
              take(target.files);
              target.value = '';
            }}
          />
          <select
            aria-label="Who may open them"
            value={visibility}
            onChange={({ target }) => setVisibility(target.value as Visibility)}
          >
            <option value="private">Private</option>
            <option value="public">Public</option>
          </select>
        </Takes>
        <span className="quiet-text">or drop them here. Each started 10 MB costs a credit.</span>
      </div>
      {uploads.length > 0 && (
        <ul className="uploads" aria-label="Uploads">
          {uploads.map((upload) => (
            <UploadLine
              key={upload.key}
              upload={upload}
              again={() => again(upload)}
              forget={() => forget(upload.key)}
            />
          ))}
        </ul>
      )}
      {children}
    </div>
  );
};
