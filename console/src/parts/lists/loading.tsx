const widths = ['w60', 'w90', 'w75', 'w40'];

/** Stands for what is on its way; says so to screen readers. */
export const Loading = ({ lines = 4 }: { lines?: number }) => (
  <div className="stack close" role="status">
    <span className="visually-hidden">Loading</span>
    {Array.from({ length: lines }, (_, line) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same
      <div key={line} className={`skeleton line ${widths[line % widths.length]}`} />
    ))}
  </div>
);
