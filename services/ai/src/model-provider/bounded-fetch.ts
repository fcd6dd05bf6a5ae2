/** An answer of 4,096 tokens takes 2 MB where each comes in an event of its own. */
const maxBodyBytes = 16 * 1024 * 1024;

/** As fetch, but follows nobody elsewhere, and a body past the bound is an error for its reader. */
export const createBoundedFetch =
  (maxBytes = maxBodyBytes): typeof fetch =>
  async (input, init) => {
    const response = await fetch(input, { ...init, redirect: 'error' });
    if (!response.body) return response;
    let bytes = 0;
    const bounded = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.length;
        if (bytes > maxBytes) controller.error(new Error(`more than ${maxBytes} bytes`));
        else controller.enqueue(chunk);
      },
    });
    return new Response(response.body.pipeThrough(bounded), {
      status: response.status,
      statusText: response.statusText,
      headers: response.headers,
    });
  };
