import { channel } from 'node:diagnostics_channel';
import { createRuntime } from '@nn-runtime/core';
import { observe } from '@nn-runtime-examples/observability';
import { context, metrics, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import t from 'tap';
import { answerJson, startScriptedBroker } from '../broker.js';
import { environment, makeKey, NOW_MS, token } from '../tokens.js';

// The SDK as an application sets it up, with exporters that keep what they are given.
const spans = new InMemorySpanExporter();
const measured = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const reader = new PeriodicExportingMetricReader({ exporter: measured, exportIntervalMillis: 3_600_000 });
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }));
metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
t.teardown(() => reader.shutdown());

const key = makeKey('k1');
const SQL = 'SELECT secret_column FROM secret_table';
const stop = observe();

interface Point {
  readonly attributes: Record<string, unknown>;
  readonly value: unknown;
}

async function pointsOf(name: string): Promise<readonly Point[]> {
  measured.reset();
  await reader.forceFlush();
  return measured
    .getMetrics()
    .flatMap((resource) => resource.scopeMetrics.flatMap((scope) => scope.metrics))
    .filter((metric) => metric.descriptor.name === name)
    .flatMap((metric): readonly Point[] => metric.dataPoints);
}

const finished = (name: string): ReadableSpan[] =>
  spans.getFinishedSpans().filter((span) => span.name === name);

t.test('a query is a span inside the span of its request, and a duration', async (t) => {
  const broker = await startScriptedBroker();
  t.teardown(() => broker.close());
  const runtime = createRuntime({ env: environment([key], broker.url), now: () => NOW_MS });
  t.teardown(() => runtime.close());
  const tracer = trace.getTracer('application');
  await tracer.startActiveSpan('GET /nations', async (request) => {
    const caller = await runtime.authenticate(token(key));
    await caller.queryMesh(SQL);
    broker.onQuery(answerJson(403, { code: 'QUERYMESH_ACCESS_DENIED', message: `denied: ${SQL}` }));
    await t.rejects(caller.queryMesh(SQL));
    request.end();
  });

  const [parent] = finished('GET /nations');
  const [good, bad] = finished('querymesh query');
  t.match(good, {
    kind: SpanKind.CLIENT,
    parentSpanContext: { spanId: parent?.spanContext().spanId },
    attributes: { 'http.response.status_code': 200, 'db.response.returned_rows': 1 },
    status: { code: SpanStatusCode.UNSET },
  });
  t.match(bad, {
    parentSpanContext: { spanId: parent?.spanContext().spanId },
    attributes: { 'http.response.status_code': 403, 'error.type': 'QUERYMESH_ACCESS_DENIED' },
    status: { code: SpanStatusCode.ERROR, message: 'QUERYMESH_ACCESS_DENIED' },
  });
  const durations = await pointsOf('nn_runtime.query.duration');
  t.strictSame(
    durations.map(({ attributes }) => attributes),
    [
      { 'http.response.status_code': 200 },
      { 'http.response.status_code': 403, 'error.type': 'QUERYMESH_ACCESS_DENIED' },
    ],
  );
  t.notMatch(
    JSON.stringify([good?.attributes, bad?.attributes, bad?.events, durations]),
    /secret|ana@|ey[A-Z]/,
  );
});

t.test('identities are counted by outcome, and a refusal is an event of its request', async (t) => {
  const runtime = createRuntime({ env: environment([key]), now: () => NOW_MS });
  t.teardown(() => runtime.close());
  await trace.getTracer('application').startActiveSpan('GET /me', async (request) => {
    const ana = token(key, { sub: 'counted' });
    await runtime.authenticate(ana);
    await runtime.authenticate(ana);
    await t.rejects(runtime.authenticate('not a token'));
    request.end();
  });
  t.match(finished('GET /me')[0]?.events, [
    { name: 'identity refused', attributes: { 'nn_runtime.reason': 'malformed' } },
  ]);
  const counted = await pointsOf('nn_runtime.identities');
  const of = (attributes: Record<string, unknown>): unknown =>
    counted.find((point) => JSON.stringify(point.attributes) === JSON.stringify(attributes))?.value;
  // One new identity from the test before this one, and one from here.
  t.equal(of({ outcome: 'verified', cached: false }), 2);
  t.equal(of({ outcome: 'verified', cached: true }), 1);
  t.equal(of({ outcome: 'refused', reason: 'malformed' }), 1);
});

t.test('key refreshes are counted by outcome', async (t) => {
  const broker = await startScriptedBroker();
  t.teardown(() => broker.close());
  const runtime = createRuntime({ env: environment([key], broker.url), now: () => NOW_MS });
  t.teardown(() => runtime.close());
  broker.onKeys(answerJson(500, {}));
  await t.rejects(runtime.authenticate(token(makeKey('k2'))));
  t.match(await pointsOf('nn_runtime.key_refreshes'), [
    { attributes: { outcome: 'failed', problem: 'status' }, value: 1 },
  ]);
});

t.test('NYXDB calls are durations, and revocations are counted', async (t) => {
  // Published here by hand: what a client publishes, and when, is proven with the client's own tests.
  const nyxdb = channel('nn-runtime:nyxdb');
  nyxdb.publish({ name: 'call-ended', durationMs: 250, code: undefined, sends: 1 });
  nyxdb.publish({ name: 'call-ended', durationMs: 750, code: 'BUSY', sends: 5 });
  nyxdb.publish({ name: 'revoked' });
  t.match(await pointsOf('nn_runtime.nyxdb.call.duration'), [
    { attributes: {}, value: { count: 1, sum: 0.25 } },
    { attributes: { 'error.type': 'BUSY' }, value: { count: 1, sum: 0.75 } },
  ]);
  t.match(await pointsOf('nn_runtime.nyxdb.revocations'), [{ value: 1 }]);
});

t.test('after the end nothing is heard', async (t) => {
  const before = spans.getFinishedSpans().length;
  stop();
  channel('nn-runtime:query').publish({ status: 200, code: 'OK', rows: 1, bytes: 2, milliseconds: 3 });
  t.equal(spans.getFinishedSpans().length, before);
});
