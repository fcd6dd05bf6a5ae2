/** An answer of 4,096 tokens takes 2 MB where each comes in an event of its own. */
const maxBodyBytes = 16 * 1024 * 1024;

async function* bounded(body: ReadableStream<Uint8Array>, maxBytes: number) {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`more than ${maxBytes} bytes`);
    yield chunk;
  }
}

/**
 * As fetch, but follows nobody elsewhere, and a body past the bound is an error for its reader. A generator
 * counts: a TransformStream takes more memory for each open stream.
 */
export const createBoundedFetch =
  (maxBytes = maxBodyBytes): typeof fetch =>
  async (input, init) => {
    const response = await fetch(input, { ...init, redirect: 'error' });
    if (!response.body) return response;
    const { status, statusText, headers } = response;
    const body = ReadableStream.from(bounded(response.body, maxBytes));
    return new Response(body, { status, statusText, headers });
  };
