/** The three large tables. Keys, dates and sums hang together as in TPC-H; the values are ours. */
import { cents, comment, digits, mix, pick } from './tpch-values.js';

const suppliers = 100;

/** The i-th (0 to 3) supplier of a part: the formula of the TPC-H text, so that the four are different. */
const supplierOf = (part: string, i: string) =>
  `((${part}) + (${i}) * (${suppliers} // 4 + ((${part}) - 1) // ${suppliers})) % ${suppliers} + 1`;

/** 2,000 parts with four suppliers each. */
export const fillPartsupp = `INSERT INTO tpch.tiny.partsupp
  SELECT p, ${supplierOf('p', 'i')}, 1 + ${mix('p * 4 + i', 61, 9_999)},
    ${cents(`100 + ${mix('p * 4 + i', 62, 99_901)}`)}, ${comment('p * 4 + i', 63)}
  FROM range(1, 2001) parts(p), range(0, 4) suppliers(i)`;

/** The day after which TPC-H calls a line open. */
const today = "DATE '1995-06-17'";

/**
 * 15,000 orders of one to seven lines: 60,175 lines, as many as Trino's `tiny` has. Order keys use the first
 * eight of every 32 numbers, as in TPC-H. The order's number `o` and its line `l` make the key of each line.
 */
export const fillLineitem = `INSERT INTO tpch.tiny.lineitem
  SELECT (o // 8) * 32 + o % 8 + 1, part, ${supplierOf('part', mix('k', 72, 4))}, l, quantity,
    quantity * (90000 + (part // 10) % 20001 + 100 * (part % 1000))::DOUBLE / 100.0::DOUBLE,
    ${cents(mix('k', 74, 11))}, ${cents(mix('k', 75, 9))},
    CASE WHEN received > ${today} THEN 'N' WHEN ${mix('k', 76, 2)} = 0 THEN 'R' ELSE 'A' END,
    CASE WHEN shipped > ${today} THEN 'O' ELSE 'F' END,
    shipped, ordered + (30 + ${mix('k', 77, 61)})::INTEGER, received,
    ${pick('k', 78, ['DELIVER IN PERSON', 'COLLECT COD', 'NONE', 'TAKE BACK RETURN'])},
    ${pick('k', 79, ['REG AIR', 'AIR', 'RAIL', 'SHIP', 'TRUCK', 'MAIL', 'FOB'])}, ${comment('k', 80)}
  FROM (
    SELECT *, shipped + (1 + ${mix('k', 81, 30)})::INTEGER AS received
    FROM (
      SELECT o, l, o * 8 + l AS k, 1 + ${mix('o * 8 + l', 71, 2_000)} AS part,
        (1 + ${mix('o * 8 + l', 73, 50)})::DOUBLE AS quantity, ordered,
        ordered + (1 + ${mix('o * 8 + l', 82, 121)})::INTEGER AS shipped
      FROM (
        SELECT o, DATE '1992-01-01' + ${mix('o', 83, 2_406)}::INTEGER AS ordered,
          1 + (o * 5) % 7 + CASE WHEN (o * 5) % 7 < 6 AND o < 203 THEN 1 ELSE 0 END AS lines
        FROM range(0, 15000) orders(o)
      ) JOIN range(1, 8) line(l) ON l <= lines
    )
  )
  ORDER BY k`;

/** Customers whose key is a multiple of three have no orders, as in TPC-H. */
const customer = `(${mix('o', 91, 1_000)} * 3 // 2 + 1)`;

/** Each order's status and total follow from its lines. */
export const fillOrders = `INSERT INTO tpch.tiny.orders
  SELECT (o // 8) * 32 + o % 8 + 1, ${customer},
    CASE WHEN open = lines THEN 'O' WHEN open = 0 THEN 'F' ELSE 'P' END, total,
    DATE '1992-01-01' + ${mix('o', 83, 2_406)}::INTEGER,
    ${pick('o', 92, ['1-URGENT', '2-HIGH', '3-MEDIUM', '4-NOT SPECIFIED', '5-LOW'])},
    'Clerk#' || ${digits(`1 + ${mix('o', 93, 10)}`, 9)}, 0, ${comment('o', 94)}
  FROM range(0, 15000) orders(o)
  JOIN (
    SELECT orderkey, count(*) AS lines, count(*) FILTER (WHERE linestatus = 'O') AS open,
      round(sum(round(extendedprice * (1 + tax) * (1 - discount) * 100)))::DOUBLE / 100.0::DOUBLE AS total
    FROM tpch.tiny.lineitem GROUP BY orderkey
  ) ON orderkey = (o // 8) * 32 + o % 8 + 1
  ORDER BY o`;
