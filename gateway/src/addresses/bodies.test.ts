import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { defaultAddressBounds } from './address-bounds.ts';
import { createBodies } from './bodies.ts';
import { usualPace } from './body-pace.ts';

describe('bodies under way', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  /** Expects a body of which so much is here. @returns how many timers watch it */
  const expectBody = (headers: Record<string, string>, here: string, bodyBytes = 100) => {
    const bodies = createBodies({ ...defaultAddressBounds, bodyBytes }, usualPace, () => {});
    const req = new IncomingMessage(new Socket());
    req.headers = headers;
    if (here !== '') req.push(here);
    const body = { address: '192.0.2.1', limitBytes: 100, startedAt: 0, onSlow: () => {} };
    const timers = jest.getTimerCount();
    const expectOne = () => void bodies.expect(req, new ServerResponse(req), body);
    expectOne();
    return { watching: jest.getTimerCount() - timers, expectOne };
  };

  it('are watched unless all of them came with the head', () => {
    const watching = (headers: Record<string, string>, here: string) =>
      expectBody(headers, here).watching;
    expect(watching({ 'content-length': '4' }, 'body')).toBe(0);
    expect(watching({ 'content-length': '4', 'content-encoding': 'gzip' }, 'body')).toBe(0);
    expect(watching({ 'content-length': '4' }, 'bod')).toBe(1);
    expect(watching({ 'content-length': '4' }, '')).toBe(1);
    expect(watching({ 'transfer-encoding': 'chunked' }, 'body')).toBe(1);
  });

  it('count either way, a compressed one with what it may become', () => {
    const small = expectBody({ 'content-length': '4' }, 'body');
    expect(small.expectOne).not.toThrow();
    const gzipped = { 'content-length': '4', 'content-encoding': 'gzip' };
    expect(expectBody(gzipped, 'body').expectOne).toThrow('Too many calls at once');
    expect(expectBody({ 'content-length': '60' }, 'x'.repeat(60)).expectOne).toThrow();
  });
});
