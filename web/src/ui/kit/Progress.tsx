/** How far something is; once all is sent, nobody can tell, and the bar only says that work goes on. */

export function Progress({ share, name }: { share: number; name: string }) {
  return share < 1 ? (
    <progress className="progress" aria-label={name} max={1} value={share} />
  ) : (
    <progress className="progress" aria-label={name} />
  );
}
