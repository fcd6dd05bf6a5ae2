const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 0 });

/** A cell: how much of the whole this is, as a bar and in percent. */
export const Share = ({ part, whole }: { part: number; whole: number }) => {
  const share = whole > 0 ? part / whole : 0;
  return (
    <td className="share">
      <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
        <rect width="100" height="4" className="share-room" />
        <rect width={100 * share} height="4" className="share-part" />
      </svg>
      <span className="quiet-text">{percent.format(share)}</span>
    </td>
  );
};
