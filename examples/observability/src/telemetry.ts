import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { RuntimeEvents } from '@nn-runtime/core';
import type { ClientEvent } from '@nn-runtime/nyxdb';
import { metrics, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';

/**
 * Turns what nn-runtime publishes into OpenTelemetry spans and metrics, until the function it gives is called. Call it after the
 * SDK is set up: instruments belong to the provider that is there when they are made.
 */
export function observe(): () => void {
  const tracer = trace.getTracer('nn-runtime');
  const meter = metrics.getMeter('nn-runtime');
  const identities = meter.createCounter('nn_runtime.identities', {
    description: 'Requests by what became of their identity. Anonymous ones are not counted.',
  });
  const keyRefreshes = meter.createCounter('nn_runtime.key_refreshes');
  const queries = meter.createHistogram('nn_runtime.query.duration', { unit: 's' });
  const rows = meter.createHistogram('nn_runtime.query.rows', { unit: '{row}' });
  const calls = meter.createHistogram('nn_runtime.nyxdb.call.duration', { unit: 's' });
  const revocations = meter.createCounter('nn_runtime.nyxdb.revocations');

  const listeners: [channel: string, listener: (message: unknown) => void][] = [];
  const on = <Event>(channel: string, listener: (event: Event) => void): void => {
    const heard = (message: unknown): void => listener(message as Event);
    subscribe(channel, heard);
    listeners.push([channel, heard]);
  };

  on<RuntimeEvents['nn-runtime:identity.verified']>('nn-runtime:identity.verified', ({ cached }) =>
    identities.add(1, { outcome: 'verified', cached }),
  );
  on<RuntimeEvents['nn-runtime:identity.refused']>('nn-runtime:identity.refused', ({ reason }) => {
    identities.add(1, { outcome: 'refused', reason });
    // On the request's own span: whoever looks at a 401 finds out why here, and the client does not.
    trace.getActiveSpan()?.addEvent('identity refused', { 'nn_runtime.reason': reason });
  });
  on<RuntimeEvents['nn-runtime:keys.refreshed']>('nn-runtime:keys.refreshed', (event) =>
    keyRefreshes.add(1, {
      outcome: event.outcome,
      ...(event.outcome === 'failed' && { problem: event.problem }),
    }),
  );
  on<RuntimeEvents['nn-runtime:query']>('nn-runtime:query', (event) => {
    const failed = event.code !== 'OK';
    const attributes = {
      'http.response.status_code': event.status,
      ...(failed && { 'error.type': event.code }),
    };
    queries.record(event.milliseconds / 1000, attributes);
    if (!failed) rows.record(event.rows);
    // The event comes when a query is over, in the context of the request that made it: the span is dated back.
    const endedAtMs = Date.now();
    const span = tracer.startSpan('querymesh query', {
      kind: SpanKind.CLIENT,
      startTime: endedAtMs - event.milliseconds,
      attributes: {
        ...attributes,
        'db.system.name': 'trino',
        'db.response.returned_rows': event.rows,
        'nn_runtime.response.bytes': event.bytes,
      },
    });
    if (failed) span.setStatus({ code: SpanStatusCode.ERROR, message: event.code });
    span.end(endedAtMs);
  });
  on<ClientEvent>('nn-runtime:nyxdb', (event) => {
    if (event.name === 'call-ended') {
      calls.record(event.durationMs / 1000, event.code === undefined ? {} : { 'error.type': event.code });
    }
    if (event.name === 'revoked') revocations.add(1);
  });

  return () => {
    for (const [channel, heard] of listeners) unsubscribe(channel, heard);
  };
}
