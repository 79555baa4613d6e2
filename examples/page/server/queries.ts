/** How many customers each region has, most first. */
export const customersPerRegion = `
  SELECT r.name AS region, count(*) AS customers
  FROM tpch.tiny.customer c
  JOIN tpch.tiny.nation n ON n.nationkey = c.nationkey
  JOIN tpch.tiny.region r ON r.regionkey = n.regionkey
  GROUP BY r.name
  ORDER BY customers DESC, region`;

/** Takes its time, tens of seconds on two cores: there is no key to join by, so every pair is looked at. */
export const longQuery = `
  SELECT count(*) AS pairs
  FROM tpch.tiny.lineitem a
  JOIN tpch.tiny.lineitem b ON a.shipdate < b.shipdate AND a.quantity < b.quantity
  WHERE a.shipmode IN ('AIR', 'RAIL', 'SHIP', 'MAIL')`;
