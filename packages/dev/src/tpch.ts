/**
 * The tables `tpch.tiny.*`: Trino's column names and types; the names and keys of nation and region are those
 * of the TPC-H text. Everything else is ours, made by integer arithmetic alone, so that it is the same on every
 * machine and in every version: it has the shape of dbgen's data, not its values.
 */
import { nations, regions } from './tpch-nations.js';
import { fillLineitem, fillOrders, fillPartsupp } from './tpch-orders.js';
import { address, cents, comment, digits, join, mix, pick } from './tpch-values.js';

/** One CREATE TABLE for each of the eight. */
export const tableDefinitions: readonly string[] = Object.entries({
  region: 'regionkey BIGINT, name VARCHAR, comment VARCHAR',
  nation: 'nationkey BIGINT, name VARCHAR, regionkey BIGINT, comment VARCHAR',
  supplier:
    'suppkey BIGINT, name VARCHAR, address VARCHAR, nationkey BIGINT, phone VARCHAR, acctbal DOUBLE, comment VARCHAR',
  customer:
    'custkey BIGINT, name VARCHAR, address VARCHAR, nationkey BIGINT, phone VARCHAR, acctbal DOUBLE, mktsegment VARCHAR, comment VARCHAR',
  part: 'partkey BIGINT, name VARCHAR, mfgr VARCHAR, brand VARCHAR, type VARCHAR, size INTEGER, container VARCHAR, retailprice DOUBLE, comment VARCHAR',
  partsupp: 'partkey BIGINT, suppkey BIGINT, availqty INTEGER, supplycost DOUBLE, comment VARCHAR',
  orders:
    'orderkey BIGINT, custkey BIGINT, orderstatus VARCHAR, totalprice DOUBLE, orderdate DATE, orderpriority VARCHAR, clerk VARCHAR, shippriority INTEGER, comment VARCHAR',
  lineitem:
    'orderkey BIGINT, partkey BIGINT, suppkey BIGINT, linenumber INTEGER, quantity DOUBLE, extendedprice DOUBLE, discount DOUBLE, tax DOUBLE, returnflag VARCHAR, linestatus VARCHAR, shipdate DATE, commitdate DATE, receiptdate DATE, shipinstruct VARCHAR, shipmode VARCHAR, comment VARCHAR',
}).map(([name, columns]) => `CREATE TABLE tpch.tiny.${name} (${columns})`);

const colours = [
  'almond',
  'azure',
  'beige',
  'blush',
  'chiffon',
  'coral',
  'cyan',
  'forest',
  'ghost',
  'honeydew',
  'indian',
  'ivory',
  'khaki',
  'lavender',
  'linen',
  'maroon',
  'midnight',
  'navy',
  'olive',
  'orchid',
  'peru',
  'plum',
  'rosy',
  'salmon',
];

const nationValues = nations.map(
  ([name, regionkey], key) => `(${key}, '${name}', ${regionkey}, ${comment(String(key), 11)})`,
);
const regionValues = regions.map((name, key) => `(${key}, '${name}', ${comment(String(key), 12)})`);

/** A phone number begins with its country: the nation's key and ten. */
const phone = (nation: string, key: string, salt: number) =>
  join("'-'", [
    `(10 + ${nation})`,
    `(100 + ${mix(key, salt, 900)})`,
    `(100 + ${mix(key, salt + 1, 900)})`,
    `(1000 + ${mix(key, salt + 2, 9000)})`,
  ]);

/** The statements that fill the five small tables. */
export const smallTables: readonly string[] = [
  `INSERT INTO tpch.tiny.region VALUES ${regionValues.join(', ')}`,
  `INSERT INTO tpch.tiny.nation VALUES ${nationValues.join(', ')}`,
  `INSERT INTO tpch.tiny.supplier
     SELECT k, 'Supplier#' || ${digits('k', 9)}, ${address('k', 21)}, n, ${phone('n', 'k', 22)},
       ${cents(`${mix('k', 25, 1_099_999)} - 99999`)}, ${comment('k', 26)}
     FROM (SELECT k, ${mix('k', 20, 25)} AS n FROM range(1, 101) r(k))`,
  `INSERT INTO tpch.tiny.customer
     SELECT k, 'Customer#' || ${digits('k', 9)}, ${address('k', 31)}, n, ${phone('n', 'k', 32)},
       ${cents(`${mix('k', 35, 1_099_999)} - 99999`)},
       ${pick('k', 36, ['AUTOMOBILE', 'BUILDING', 'FURNITURE', 'HOUSEHOLD', 'MACHINERY'])}, ${comment('k', 37)}
     FROM (SELECT k, ${mix('k', 30, 25)} AS n FROM range(1, 1501) r(k))`,
  `INSERT INTO tpch.tiny.part
     SELECT k, ${join("' '", [pick('k', 41, colours), pick('k', 42, colours), pick('k', 43, colours)])},
       'Manufacturer#' || m, 'Brand#' || m || (1 + ${mix('k', 45, 5)}),
       ${join("' '", [
         pick('k', 46, ['STANDARD', 'SMALL', 'MEDIUM', 'LARGE', 'ECONOMY', 'PROMO']),
         pick('k', 47, ['ANODIZED', 'BURNISHED', 'PLATED', 'POLISHED', 'BRUSHED']),
         pick('k', 48, ['TIN', 'NICKEL', 'BRASS', 'STEEL', 'COPPER']),
       ])},
       1 + ${mix('k', 49, 50)},
       ${join("' '", [
         pick('k', 50, ['SM', 'LG', 'MED', 'JUMBO', 'WRAP']),
         pick('k', 51, ['CASE', 'BOX', 'BAG', 'JAR', 'PKG', 'PACK', 'CAN', 'DRUM']),
       ])},
       ${cents('90000 + (k // 10) % 20001 + 100 * (k % 1000)')}, ${comment('k', 52)}
     FROM (SELECT k, 1 + ${mix('k', 44, 5)} AS m FROM range(1, 2001) r(k))`,
];

/** The statements that fill the three large ones, in this order: orders are summed up from their lines. */
export const largeTables: readonly string[] = [fillPartsupp, fillLineitem, fillOrders];
