/**
 * The text of server-sent events.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */

/** Returns an event with data in JSON, which never contains a line break. */
export const eventText = (event: string, id: string, data: unknown): string =>
  `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`

/** Returns a block that sets the id to resume from and that reaches no listener. */
export const positionText = (id: string): string => `id: ${id}\n\n`

/** A comment, which tells both sides and the proxies between them that the connection works. */
export const heartbeatText = ':\n\n'

/** Returns the pause before a client connects again. */
export const retryText = (ms: number): string => `retry: ${ms}\n\n`

export const eventStreamType = 'text/event-stream; charset=utf-8'
