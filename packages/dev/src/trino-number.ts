/**
 * A double as Java's `Double.toString` writes it, which is how Trino puts one into JSON: always a point,
 * an exponent outside 10⁻³ … 10⁷, and the three values that JSON has no number for as strings.
 */
export function encodeDouble(value: number): string {
  // `toExponential` drops the sign of zero.
  if (Object.is(value, -0)) return '-0.0';
  return Number.isFinite(value) ? javaText(value.toExponential()) : JSON.stringify(String(value));
}

/** A real: the shortest digits that name this single-precision value, as Java's `Float.toString` finds them. */
export function encodeReal(value: number): string {
  if (Object.is(value, -0)) return '-0.0';
  if (!Number.isFinite(value)) return JSON.stringify(String(value));
  for (let digits = 0; digits < 9; digits++) {
    const text = value.toExponential(digits);
    if (Math.fround(Number(text)) === value) return javaText(text);
  }
  return javaText(value.toExponential());
}

/** `-1.25e+3` → `-1250.0`, `1e+22` → `1.0E22`. */
function javaText(exponential: string): string {
  const [mantissa = '0', exponentText = '0'] = exponential.split('e');
  const exponent = Number(exponentText);
  const sign = mantissa.startsWith('-') ? '-' : '';
  const [whole = '0', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = (whole + fraction).replace(/0+$/, '') || '0';
  if (digits === '0') return `${sign}0.0`;
  if (exponent < -3 || exponent >= 7) return `${sign}${digits[0]}.${digits.slice(1) || '0'}E${exponent}`;
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  const padded = digits.padEnd(exponent + 1, '0');
  return `${sign}${padded.slice(0, exponent + 1)}.${padded.slice(exponent + 1) || '0'}`;
}

/** The largest magnitude of a Trino decimal, exclusive. */
const decimalLimit = 10n ** 38n;

/** Whether a Trino decimal(38, 0) can hold it. */
export function fitsDecimal(value: bigint): boolean {
  return value > -decimalLimit && value < decimalLimit;
}

/** Whether a Trino bigint can hold it. */
export function fitsBigint(value: bigint): boolean {
  return value === BigInt.asIntN(64, value);
}
