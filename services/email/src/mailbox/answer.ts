import type { ServerResponse } from 'node:http';
import { create as contentDisposition } from 'content-disposition';
import type { Attachment } from '../mailer/mailer.ts';
import { pagePolicy } from './pages.ts';

export interface Answer {
  status?: number;
  /** A page, or the content of a file that is to be saved. */
  content: string | Attachment;
  policy?: string;
  /** A session to open in this browser. */
  session?: string;
}

/** A file is never one that a browser might show, whatever it is. */
const contentHeaders = (content: Answer['content']) =>
  typeof content === 'string'
    ? { 'Content-Type': 'text/html; charset=utf-8' }
    : {
        'Content-Type': 'application/octet-stream',
        'Content-Disposition': contentDisposition(content.name, { type: 'attachment' }),
      };

export const send = (
  res: ServerResponse,
  { status = 200, content, policy = pagePolicy }: Answer,
) => {
  res.writeHead(status, {
    ...contentHeaders(content),
    'Content-Security-Policy': policy,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Resource-Policy': 'same-origin',
  });
  res.end(typeof content === 'string' ? content : content.content);
};
