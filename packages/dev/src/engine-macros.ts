/**
 * Functions of Trino that DuckDB lacks or calls otherwise, as macros: the handful that daily queries use.
 * Where a macro cannot follow (lambda arguments, a result type that depends on the argument), the difference
 * stays: this is a stand-in, not Trino.
 */
export const macros: readonly string[] = [
  "nan() AS 'NaN'::DOUBLE",
  "infinity() AS 'Infinity'::DOUBLE",
  'is_nan(x) AS isnan(x)',
  'is_finite(x) AS isfinite(x)',
  'is_infinite(x) AS isinf(x)',
  'approx_distinct(x) AS approx_count_distinct(x)',
  'approx_percentile(x, p) AS approx_quantile(x, p)',
  'arbitrary(x) AS any_value(x)',
  'count_if(x) AS count(*) FILTER (WHERE x)',
  "date_add(unit, n, t) AS t + (n || ' ' || unit)::INTERVAL",
  'day_of_week(t) AS isodow(t)',
  'day_of_month(t) AS day(t)',
  'day_of_year(t) AS dayofyear(t)',
  'week_of_year(t) AS week(t)',
  'from_unixtime(s) AS to_timestamp(s)',
  'to_unixtime(t) AS epoch(t)',
  'regexp_like(s, p) AS regexp_matches(s, p)',
  'json_extract_scalar(j, p) AS json_extract_string(j, p)',
  'json_parse(s) AS s::JSON',
  'json_format(j) AS j::VARCHAR',
  'sequence(a, b) AS generate_series(a, b), (a, b, step) AS generate_series(a, b, step)',
  'element_at(c, k) AS c[k]',
  "cardinality(c) AS (CASE WHEN typeof(c) LIKE 'MAP(%' THEN json_array_length(json_keys(to_json(c))) ELSE json_array_length(to_json(c)) END)::BIGINT",
  'codepoint(s) AS unicode(s)',
  'to_utf8(s) AS encode(s)',
  'from_utf8(b) AS decode(b)',
];
