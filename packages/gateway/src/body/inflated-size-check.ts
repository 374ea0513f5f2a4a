import * as zlib from 'node:zlib'
import type { ExportCall } from '../contract/export-call.ts'
import type { InflatedSizeInspection } from '../contract/gateway-config.ts'
import { BodyBuffer } from './body-buffer.ts'

/** The highest compression ratio of deflate: 258 bytes in two bits. Several gzip members cannot exceed it (P-9). */
const MAX_DEFLATE_RATIO = 1032
/** log2 of the largest zstd window for a request: the size that every decoder should accept (RFC 8878, 3.1.1.1.2). */
const ZSTD_WINDOW_LOG = 23
const OUTPUT_CHUNK_BYTES = 64 * 1024

type Inflater = zlib.Gunzip | zlib.Inflate

/** The zstd API of Node 22.15 and newer. */
interface Zstd {
  readonly createZstdDecompress?: (options: { chunkSize: number; params: Record<number, number> }) => Inflater
  readonly constants: { readonly ZSTD_d_windowLogMax?: number }
}
const zstd = zlib as Zstd

const options = { chunkSize: OUTPUT_CHUNK_BYTES }
const inflaters: Readonly<Record<string, (() => Inflater) | undefined>> = {
  gzip: () => zlib.createGunzip(options),
  deflate: () => zlib.createInflate(options),
  zlib: () => zlib.createInflate(options),
  zstd:
    zstd.createZstdDecompress &&
    (() =>
      zstd.createZstdDecompress!({ ...options, params: { [zstd.constants.ZSTD_d_windowLogMax!]: ZSTD_WINDOW_LOG } })),
}

/**
 * Returns the wire length up to which a body of this content encoding cannot inflate beyond `limitBytes`, so that it
 * need not be inspected. Infinity for encodings that the gateway cannot read: upstream decides about those (P-7).
 */
export function safeWireBytes(coding: string, limitBytes: number): number {
  if (!Object.hasOwn(inflaters, coding) || inflaters[coding] === undefined) return Number.POSITIVE_INFINITY
  return coding === 'zstd' ? 0 : Math.floor(limitBytes / MAX_DEFLATE_RATIO)
}

export interface InflationRules {
  /** The limit of the wire length and of the inflated length. */
  readonly maxBodyBytes: number
  readonly inspectInflatedSize: InflatedSizeInspection
}

/** Returns the wire length up to which the body of this call is forwarded without checking its inflated size. */
export function uninspectedBytes(
  { admitted, contentEncoding }: Pick<ExportCall, 'admitted' | 'contentEncoding'>,
  { maxBodyBytes, inspectInflatedSize }: InflationRules,
): number {
  const isTrusted = admitted.token !== undefined && inspectInflatedSize === 'unauthenticated'
  return isTrusted ? Number.POSITIVE_INFINITY : safeWireBytes(contentEncoding, maxBodyBytes)
}

export type InflationVerdict = 'fits' | 'too_large' | 'invalid'

/**
 * Checks the inflated size of a body by inflating a copy of it and discarding the output (P-9). Does not inflate bodies
 * that end within `safeWireBytes`.
 */
export class InflatedSizeCheck {
  readonly #coding: string
  readonly #limitBytes: number
  readonly #safeWireBytes: number
  readonly #on: { readonly onDrained: () => void; readonly onVerdict: (verdict: InflationVerdict) => void }
  readonly #pending = new BodyBuffer(undefined)
  #inflater: Inflater | undefined
  #writtenBytes = 0
  #inflatedBytes = 0
  #isConcluded = false

  /** `onDrained`: more may be written after `write` returned false. `onVerdict` is called once, as soon as possible. */
  constructor(
    coding: string,
    limitBytes: number,
    on: { readonly onDrained: () => void; readonly onVerdict: (verdict: InflationVerdict) => void },
  ) {
    this.#coding = coding
    this.#limitBytes = limitBytes
    this.#safeWireBytes = safeWireBytes(coding, limitBytes)
    this.#on = on
  }

  /** Returns false if the caller must wait for `onDrained` before it writes more. */
  write(piece: Uint8Array): boolean {
    if (this.#isConcluded) return true
    this.#writtenBytes += piece.length
    if (this.#inflater !== undefined) return this.#inflater.write(piece)
    this.#pending.add(piece)
    if (this.#writtenBytes <= this.#safeWireBytes) return true
    this.#inflater = this.#start()
    return this.#inflater.write(this.#pending.bytes())
  }

  end(): void {
    if (this.#inflater === undefined) this.#conclude('fits')
    else if (!this.#isConcluded) this.#inflater.end()
  }

  /** Stops the check; `onVerdict` is not called any more. */
  cancel(): void {
    this.#isConcluded = true
    this.#inflater?.destroy()
  }

  #start(): Inflater {
    const inflater = inflaters[this.#coding]!()
    inflater.on('drain', this.#on.onDrained)
    inflater.on('data', (chunk: Uint8Array) => {
      this.#inflatedBytes += chunk.length
      if (this.#inflatedBytes > this.#limitBytes) this.#conclude('too_large')
    })
    inflater.on('error', () => this.#conclude('invalid'))
    // zlib stops at zero bytes after a gzip member, but the decoder of upstream may read on, so the rest must not be
    // trusted.
    inflater.on('end', () => this.#conclude(inflater.bytesWritten === this.#writtenBytes ? 'fits' : 'invalid'))
    return inflater
  }

  #conclude(verdict: InflationVerdict): void {
    if (this.#isConcluded) return
    this.cancel()
    this.#on.onVerdict(verdict)
  }
}
