/** Seconds with one decimal, as they are said of a query. */
export const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** Tells how long it has been, ten times a second, until the returned function is called; that gives the milliseconds in all. */
export function elapsed(tell: (text: string) => void): () => number {
  const startMs = performance.now();
  const look = () => tell(seconds(performance.now() - startMs));
  look();
  const timer = setInterval(look, 100);
  return () => {
    clearInterval(timer);
    return performance.now() - startMs;
  };
}
