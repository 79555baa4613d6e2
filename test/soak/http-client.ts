import { type Agent, type ClientRequest, request } from 'node:http';
import type { Answer, Shot } from './http-answer.js';

/** A request whose answer did not come, or not whole. */
export class Unanswered extends Error {
  /** Whether a part of an answer had come. */
  readonly isCut: boolean;
  /** Whether its connection had brought an answer before. */
  readonly isKept: boolean;

  constructor(isCut: boolean, isKept: boolean, cause: unknown) {
    super(isCut ? 'the answer was cut' : 'there was no answer', { cause });
    this.isCut = isCut;
    this.isKept = isKept;
  }
}

const send = (port: number, agent: Agent, { path, identity }: Shot): ClientRequest =>
  request({
    host: '127.0.0.1',
    port,
    path,
    agent,
    headers: identity.length === 0 ? {} : { 'x-nnumbers-identity': [...identity] },
  });

/** @throws Unanswered */
export function ask(port: number, agent: Agent, shot: Shot): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = send(port, agent, shot);
    outgoing.on('error', (error) => reject(new Unanswered(false, outgoing.reusedSocket, error)));
    outgoing.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('error', (error) => reject(new Unanswered(true, outgoing.reusedSocket, error)));
      response.on('end', () => {
        const status = response.statusCode ?? 0;
        try {
          const body = JSON.parse(text) as Answer['body'];
          resolve({ status, retryAfter: response.headers['retry-after'], body });
        } catch (error) {
          reject(new Unanswered(true, outgoing.reusedSocket, error));
        }
      });
    });
    outgoing.end();
  });
}

/** Sends it and goes away: while the server verifies, queries, or already answers. */
export function reset(port: number, agent: Agent, shot: Shot, afterMs: number): Promise<void> {
  return new Promise((resolve) => {
    const outgoing = send(port, agent, shot);
    outgoing.on('error', () => {});
    outgoing.on('response', (response) => response.resume().on('error', () => {}));
    outgoing.on('close', resolve);
    outgoing.on('finish', () =>
      afterMs === 0 ? outgoing.destroy() : setTimeout(() => outgoing.destroy(), afterMs),
    );
    outgoing.end();
  });
}
