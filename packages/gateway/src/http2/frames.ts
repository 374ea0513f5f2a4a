/**
 * The layout of HTTP/2 frames. Frames are written as latin1 texts, one character per byte, because they are short: joining
 * texts is cheaper than joining buffers.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9113.html#section-4
 */

/** The first bytes of a client, before its SETTINGS. */
export const PREFACE: Buffer = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')

export const FRAME_HEAD_BYTES = 9
/** The longest payload that the gateway accepts, and that it sends: the lowest value that a peer may set. */
export const MAX_FRAME_BYTES = 16_384
export const PING_BYTES = 8

export const FrameType = {
  DATA: 0,
  HEADERS: 1,
  PRIORITY: 2,
  RST_STREAM: 3,
  SETTINGS: 4,
  PUSH_PROMISE: 5,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
} as const

export const Flag = { ACK: 1, END_STREAM: 1, END_HEADERS: 4, PADDED: 8, PRIORITY: 32 } as const

export const Setting = {
  HEADER_TABLE_SIZE: 1,
  ENABLE_PUSH: 2,
  MAX_CONCURRENT_STREAMS: 3,
  INITIAL_WINDOW_SIZE: 4,
  MAX_FRAME_SIZE: 5,
  MAX_HEADER_LIST_SIZE: 6,
} as const

export const ErrorCode = {
  NO_ERROR: 0,
  PROTOCOL_ERROR: 1,
  INTERNAL_ERROR: 2,
  FLOW_CONTROL_ERROR: 3,
  STREAM_CLOSED: 5,
  FRAME_SIZE_ERROR: 6,
  REFUSED_STREAM: 7,
  CANCEL: 8,
  COMPRESSION_ERROR: 9,
  ENHANCE_YOUR_CALM: 11,
} as const

/** Returns the head of a frame. */
export function frameHead(payloadBytes: number, type: number, flags: number, streamId: number): string {
  return String.fromCharCode(
    payloadBytes >>> 16,
    (payloadBytes >>> 8) & 0xff,
    payloadBytes & 0xff,
    type,
    flags,
    streamId >>> 24,
    (streamId >>> 16) & 0xff,
    (streamId >>> 8) & 0xff,
    streamId & 0xff,
  )
}

/** Returns the four bytes of an unsigned integer. */
export const uint32 = (value: number): string =>
  String.fromCharCode(value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff)

/** Returns a SETTINGS frame. */
export function settingsFrame(settings: readonly (readonly [setting: number, value: number])[]): string {
  const payload = settings.map(([setting, value]) => String.fromCharCode(0, setting) + uint32(value)).join('')
  return frameHead(payload.length, FrameType.SETTINGS, 0, 0) + payload
}

export const settingsAck: string = frameHead(0, FrameType.SETTINGS, Flag.ACK, 0)

export const windowUpdate = (streamId: number, bytes: number): string =>
  frameHead(4, FrameType.WINDOW_UPDATE, 0, streamId) + uint32(bytes)

export const rstStream = (streamId: number, code: number): string =>
  frameHead(4, FrameType.RST_STREAM, 0, streamId) + uint32(code)

export const goawayFrame = (lastStreamId: number, code: number, debugData: string): string =>
  frameHead(8 + debugData.length, FrameType.GOAWAY, 0, 0) + uint32(lastStreamId) + uint32(code) + debugData

export const pingAck = (payload: string): string => frameHead(PING_BYTES, FrameType.PING, Flag.ACK, 0) + payload

/** Returns an unsigned integer of four bytes. */
export const readUint32 = (bytes: Uint8Array, at: number): number =>
  ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0

/** The window of a stream and of a connection before any update, and the largest one (RFC 9113, section 6.9). */
export const INITIAL_WINDOW = 65_535
export const MAX_WINDOW: number = 2 ** 31 - 1
