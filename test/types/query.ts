/** Types of queries and rows, checked by the compiler alone: each line marked as an error must be one. */

import type { Caller, JsonValue, QueryResult, RowObject, Sql, SqlValue, Value } from '@nn-runtime/core';
import { sql, toInstant } from '@nn-runtime/core';
import { type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <T extends true>(): T | undefined => undefined;

export async function rowsWithoutSchema(caller: Caller): Promise<void> {
  const result = await caller.queryMesh('SELECT 1');
  holds<Equal<typeof result, QueryResult<RowObject>>>();
  holds<Equal<ReturnType<typeof result.objects>[number], RowObject | { [name: string]: JsonValue }>>();
  const [row] = result.objects();
  holds<Equal<typeof row, RowObject | undefined>>();
  const value = row?.name;
  holds<Equal<typeof value, Value | undefined>>();
  // @ts-expect-error: a value may be anything until it is looked at
  const text: string = value;
  const [json] = result.objects({ json: true });
  holds<Equal<typeof json, { [name: string]: JsonValue } | undefined>>();
  result.objects({ duplicates: 'rename', json: undefined });
  // @ts-expect-error: there is no such way with duplicates
  result.objects({ duplicates: 'merge' });
  void text;
}

export async function rowsByZod(caller: Caller): Promise<void> {
  const row = z.object({ name: z.string(), regionkey: z.number().transform(String) });
  const result = await caller.queryMesh('SELECT 1', { row });
  const [nation] = result.objects();
  holds<Equal<typeof nation, { name: string; regionkey: string } | undefined>>();
  // @ts-expect-error: the schema's output is a string
  const key: number | undefined = nation?.regionkey;
  // @ts-expect-error: the schema has no such column
  nation?.population;
  holds<Equal<(typeof result.rows)[number][number], Value>>();
  void key;
}

export async function outputsForJson(caller: Caller): Promise<void> {
  const named = await caller.queryMesh('SELECT 1', {
    row: z.object({ name: z.string(), at: z.coerce.date() }),
  });
  const [object] = named.objects({ json: true });
  holds<Equal<typeof object, { [name: string]: JsonValue } | undefined>>();
  const texts = await caller.queryMesh('SELECT 1', {
    row: z.object({ name: z.string() }).transform(({ name }) => name),
  });
  const [text] = texts.objects({ json: true });
  holds<Equal<typeof text, JsonValue | undefined>>();
  // @ts-expect-error: an output that is a text is no object in JSON either
  text?.name;
  const lists = await caller.queryMesh('SELECT 1', { row: z.object({}).transform(() => [1]) });
  const [list] = lists.objects({ json: true });
  holds<Equal<typeof list, JsonValue | undefined>>();
}

export async function rowsByValibot(caller: Caller): Promise<void> {
  const row = v.object({ name: v.string(), big: v.bigint() });
  const [nation] = (await caller.queryMesh(sql`SELECT 1`, { row, bigint: 'bigint' })).objects();
  holds<Equal<typeof nation, { name: string; big: bigint } | undefined>>();
  // @ts-expect-error: the schema has no such column
  nation?.population;
}

export async function rowsByArktype(caller: Caller): Promise<void> {
  const row = type({ name: 'string', 'key?': 'number' });
  const [nation] = (await caller.queryMesh(sql`SELECT 1`, { row })).objects();
  holds<Equal<typeof nation, { name: string; key?: number } | undefined>>();
  // @ts-expect-error: the key may be absent
  const key: number | undefined = nation === undefined ? 0 : (nation.key satisfies number);
  void key;
}

export async function optionsOfQueries(caller: Caller): Promise<void> {
  await caller.queryMesh('SELECT 1', {
    row: undefined,
    bigint: undefined,
    maxRows: undefined,
    signal: undefined,
  });
  // @ts-expect-error: a schema is an object of Standard Schema
  await caller.queryMesh('SELECT 1', { row: (value: unknown) => value });
  // @ts-expect-error: there is no such form
  await caller.queryMesh('SELECT 1', { bigint: 'bigdecimal' });
  // @ts-expect-error: SQL is a string or made by the tag
  await caller.queryMesh(1);
}

export function valuesOfTheTag(unchecked: unknown, query: Sql): Sql[] {
  const values: SqlValue[] = ['a', 1, 1n, true, null, new Date(), new Uint8Array(), query, ['a', [1, null]]];
  // @ts-expect-error: undefined has no literal
  sql`${undefined}`;
  // @ts-expect-error: an object has no literal
  sql`${{ text: 'a' }}`;
  // @ts-expect-error: what is not known has no literal
  sql`${unchecked}`;
  // @ts-expect-error: a string is no template
  sql('SELECT 1');
  // @ts-expect-error: a Date is no text of a date
  sql.date(new Date());
  // @ts-expect-error: SQL is not a string
  const text: string = query;
  void text;
  return [sql`${values}`, sql.list(values), sql.like('a', 'start'), sql.id('a', 'b')];
}

export function instants(text: string): bigint {
  const instant = toInstant(text);
  // @ts-expect-error: with Temporal it is an object
  const nanoseconds: bigint = instant;
  void nanoseconds;
  return typeof instant === 'bigint' ? instant : instant.epochNanoseconds;
}
