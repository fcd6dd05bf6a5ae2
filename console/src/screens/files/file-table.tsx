import { Link } from '@tanstack/react-router';
import { WideTable } from '../../parts/lists/wide-table.tsx';
import { formatBytes } from '../../parts/words/numbers.ts';
import { Time } from '../../parts/words/time.tsx';
import type { StoredFile } from './file-address.ts';
import { Thumbnail } from './thumbnail.tsx';

interface FileTableProps {
  files: readonly StoredFile[];
  projectId: string;
  chosen: ReadonlySet<string>;
  onChoose(id: string, isChosen: boolean): void;
  onOpen(file: StoredFile): void;
}

export const FileTable = ({ files, projectId, chosen, onChoose, onOpen }: FileTableProps) => (
  <WideTable
    label="Files"
    columns={[
      { label: 'Choose', isHidden: true },
      'File',
      'Type',
      { label: 'Size', isNumber: true },
      'Opens to',
      'Uploaded',
    ]}
  >
    {files.map((file) => (
      <tr key={file.id}>
        <td>
          <input
            type="checkbox"
            aria-label={`Choose ${file.name}`}
            checked={chosen.has(file.id)}
            onChange={({ target }) => onChoose(file.id, target.checked)}
          />
        </td>
        <td>
          <button type="button" className="link file-open" onClick={() => onOpen(file)}>
            <Thumbnail file={file} projectId={projectId} />
            <span className="cut file-name">
              <bdi>{file.name}</bdi>
            </span>
          </button>
        </td>
        <td className="cut file-type">{file.type}</td>
        <td className="number">{formatBytes(file.size)}</td>
        <td>
          {file.visibility === 'public' ? <span className="badge warn">public</span> : 'private'}
        </td>
        <td>
          <Time at={file.createdAt} />
          {file.ownerId && (
            <>
              {' by '}
              <Link
                to="/projects/$projectId/users/$userId"
                params={{ projectId, userId: file.ownerId }}
              >
                a user
              </Link>
            </>
          )}
        </td>
      </tr>
    ))}
  </WideTable>
);
