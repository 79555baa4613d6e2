/** FNV-1a over the cells of rows in their order: rows lost, doubled, moved or mixed up give another number. */
export function checksumOf(rows: readonly (readonly string[])[]): string {
  let hash = 0x811c9dc5;
  for (const row of rows)
    for (const cell of row) {
      for (let at = 0; at < cell.length; at++) hash = Math.imul(hash ^ cell.charCodeAt(at), 0x01000193);
      hash = Math.imul(hash ^ 0xff, 0x01000193);
    }
  return (hash >>> 0).toString(16);
}
