/** Where a piece of SQL text stands: in code, or inside quotes or a comment (Trino's SqlBase.g4: no backslash escapes, comments do not nest). */

/** The kind of place, and what ends it. */
export type Place =
  | { readonly kind: 'code' }
  | { readonly kind: 'quotes'; readonly end: string }
  | { readonly kind: 'line comment' }
  | { readonly kind: 'block comment' };

const CODE: Place = { kind: 'code' };

// Back quotes and dollar quotes: no value may stand in what another engine behind QueryMesh would read as text.
const OPENING = /['"`]|--|\/\*|\$(?:[A-Za-z_][A-Za-z0-9_]*)?\$/g;

/** The place where a text, begun in code, ends. */
export function placeAfter(text: string): Place {
  let at = 0;
  for (;;) {
    OPENING.lastIndex = at;
    const opening = OPENING.exec(text);
    if (opening === null) return CODE;
    const place = placeOf(opening[0]);
    const end = endOf(place, text, opening.index + opening[0].length);
    if (end === undefined) return place;
    at = end;
  }
}

function placeOf(opening: string): Place {
  if (opening === '--') return { kind: 'line comment' };
  if (opening === '/*') return { kind: 'block comment' };
  return { kind: 'quotes', end: opening };
}

// A doubled quote inside quotes ends them and opens them again, which comes to the same.
function endOf(place: Place, text: string, from: number): number | undefined {
  if (place.kind === 'line comment') {
    const length = text.slice(from).search(/[\r\n]/);
    return length < 0 ? undefined : from + length;
  }
  const end = place.kind === 'quotes' ? place.end : '*/';
  const found = text.indexOf(end, from);
  return found < 0 ? undefined : found + end.length;
}
