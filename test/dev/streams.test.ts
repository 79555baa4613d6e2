import { once } from 'node:events';
import { type IncomingMessage, request as send } from 'node:http';
import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { edgeOf } from './fixtures/edge.js';
import { ask } from './fixtures/http.js';

/** What passes the edge passes as it comes: nothing is gathered up first, in either direction. */

const megabyte = 1024 * 1024;
const size = 100 * megabyte;
/**
 * The most that may be on its way: the buffers of four sockets, which the kernel lets grow to some megabytes each, and
 * no copy of the whole.
 */
const mostUnderWay = 40 * megabyte;
/**
 * The most that this process, which is browser, edge and application at once, may hold of the 100 MB at any time: it
 * sweeps up late, but a copy of the whole does not fit.
 */
const mostHeld = 70 * megabyte;

t.test('a request and its answer run at the same time', async (t) => {
  const { url } = await edgeOf(t, (request, response) => {
    request.on('data', (chunk) => response.write(`heard ${chunk}`));
    request.once('end', () => response.end('bye'));
  });
  const request = send(url, { method: 'POST', agent: false });
  request.write('one');
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.setEncoding('utf8');
  const answers = response.iterator();
  t.equal((await answers.next()).value, 'heard one');
  for (const word of ['two', 'three']) {
    request.write(word);
    t.equal((await answers.next()).value, `heard ${word}`, 'before the request has ended');
  }
  request.end();
  t.equal((await answers.next()).value, 'bye');
});

t.test('the head of an answer does not wait for its body', async (t) => {
  const { url } = await edgeOf(t, (request, response) => {
    response.writeHead(200, { 'x-early': 'yes' }).flushHeaders();
    request.once('close', () => response.end());
  });
  const request = send(url, { agent: false }).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  t.equal(response.headers['x-early'], 'yes');
  response.destroy();
});

t.test('server-sent events arrive one by one, and the application sees who stops listening', async (t) => {
  let sendEvent = (_text: string) => undefined as unknown;
  let gone: Promise<unknown> = Promise.resolve();
  const { url } = await edgeOf(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    sendEvent = (text) => response.write(`data: ${text}\n\n`);
    gone = once(response, 'close');
    sendEvent('hello');
  });
  const response = await fetch(url, { headers: { accept: 'text/event-stream' } });
  t.equal(response.headers.get('content-type'), 'text/event-stream');
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  t.equal((await reader?.read())?.value, 'data: hello\n\n');
  for (const text of ['one', 'two', 'three']) {
    sendEvent(text);
    t.equal((await reader?.read())?.value, `data: ${text}\n\n`);
  }
  await reader?.cancel();
  await gone;
  t.pass('the application was told');
});

/** 100 MB, one at a time, and how many have been asked for. */
function source(): { stream: Readable; produced(): number } {
  let bytes = 0;
  const chunk = Buffer.alloc(megabyte / 4, 'nn-runtime ');
  const stream = new Readable({
    read() {
      if (bytes === size) this.push(null);
      else {
        bytes += chunk.length;
        this.push(chunk);
      }
    },
  });
  return { stream, produced: () => bytes };
}

// What is held, and not what is waiting to be swept up.
setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** Reads more slowly than anybody writes; gives the bytes, and the most that was produced but not read yet. */
async function readSlowly(
  stream: Readable,
  produced: () => number,
): Promise<{ bytes: number; mostAhead: number; mostMemory: number }> {
  let bytes = 0;
  let mostAhead = 0;
  let mostMemory = 0;
  let mark = 0;
  collectGarbage();
  const before = process.memoryUsage();
  for await (const chunk of stream) {
    bytes += (chunk as Buffer).length;
    // Everybody else has turns enough to run ahead, if nothing held them.
    for (let turn = 0; turn < 4; turn += 1) await new Promise(setImmediate);
    mostAhead = Math.max(mostAhead, produced() - bytes);
    if (bytes < mark) continue;
    mark += 10 * megabyte;
    collectGarbage();
    const { arrayBuffers, external } = process.memoryUsage();
    mostMemory = Math.max(mostMemory, arrayBuffers - before.arrayBuffers, external - before.external);
  }
  return { bytes, mostAhead, mostMemory };
}

t.test('100 MB down, to a browser that reads slowly', async (t) => {
  const { stream, produced } = source();
  const { url } = await edgeOf(t, (_request, response) => stream.pipe(response));
  const request = send(url, { agent: false }).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const { bytes, mostAhead, mostMemory } = await readSlowly(response, produced);
  t.equal(bytes, size);
  t.ok(mostAhead < mostUnderWay, `${Math.round(mostAhead / megabyte)} MB under way`);
  t.ok(mostMemory < mostHeld, `${Math.round(mostMemory / megabyte)} MB of buffers`);
});

t.test('100 MB up, to an application that reads slowly', async (t) => {
  const { stream, produced } = source();
  let read: ReturnType<typeof readSlowly> | undefined;
  const { url } = await edgeOf(t, async (request, response) => {
    read = readSlowly(request, produced);
    await read;
    response.end('done');
  });
  const request = send(url, { method: 'PUT', agent: false });
  stream.pipe(request);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  t.equal(response.statusCode, 200);
  const { bytes, mostAhead, mostMemory } = (await read) ?? { bytes: 0, mostAhead: 0, mostMemory: 0 };
  t.equal(bytes, size);
  t.ok(mostAhead < mostUnderWay, `${Math.round(mostAhead / megabyte)} MB under way`);
  t.ok(mostMemory < mostHeld, `${Math.round(mostMemory / megabyte)} MB of buffers`);
});

t.test('a browser that goes away takes its download and its upload along', async (t) => {
  const seen: Promise<unknown>[] = [];
  const { url } = await edgeOf(t, (request, response) => {
    if (request.method === 'GET') {
      seen.push(once(response, 'close').then(() => response.writableFinished));
      source()
        .stream.on('error', () => undefined)
        .pipe(response);
    } else {
      request.resume();
      request.on('error', () => undefined);
      seen.push(new Promise((resolve) => request.once('close', () => resolve(request.complete))));
    }
  });
  const download = send(url, { agent: false }).end();
  const [response] = (await once(download, 'response')) as [IncomingMessage];
  await once(response, 'readable');
  response.on('error', () => undefined);
  download.destroy();
  t.equal(await seen[0], false, 'the download is broken off at the application too');

  const upload = send(url, { method: 'POST', agent: false, headers: { 'content-length': size } });
  upload.on('error', () => undefined);
  upload.write('a beginning');
  while (seen.length < 2) await new Promise(setImmediate);
  upload.destroy();
  t.equal(await seen[1], false, 'and so is the upload: never a whole request');
  t.equal((await ask(`${url}/.nnumbers/v1/context`)).status, 203);
});
