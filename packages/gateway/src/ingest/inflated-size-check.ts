import * as zlib from 'node:zlib'
import type { InflatedSizeInspection } from '../gateway-config.ts'
import { BodyBuffer } from './body-buffer.ts'
import type { ExportCall } from './export-call.ts'

/** deflate packs at most 258 bytes into two bits, and neither gzip nor several members of it can do better (P-9). */
const MAX_DEFLATE_RATIO = 1032
/** log2 of the largest zstd window we keep for one request; what every decoder must accept (RFC 8878 section 3.1.1.1.2). */
const ZSTD_WINDOW_LOG = 23
const OUTPUT_CHUNK_BYTES = 64 * 1024

type Inflater = zlib.Gunzip | zlib.Inflate

/** Of Node 22.15 and newer. */
interface Zstd {
  readonly createZstdDecompress?: (options: { chunkSize: number; params: Record<number, number> }) => Inflater
  readonly constants: { readonly ZSTD_d_windowLogMax?: number }
}
const zstd = zlib as unknown as Zstd

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
 * Up to how many wire bytes a body of this coding cannot inflate beyond `limitBytes`, so that nobody need look inside.
 * Of a coding that we cannot read it is Infinity: upstream is left to judge (P-7).
 */
export function safeWireBytes(coding: string, limitBytes: number): number {
  if (!Object.hasOwn(inflaters, coding) || inflaters[coding] === undefined) return Number.POSITIVE_INFINITY
  return coding === 'zstd' ? 0 : Math.floor(limitBytes / MAX_DEFLATE_RATIO)
}

export interface InflationRules {
  /** The limit on wire bytes and on inflated bytes. */
  readonly maxBodyBytes: number
  readonly inspectInflatedSize: InflatedSizeInspection
}

/** Returns the number of wire bytes up to which the body of this call is forwarded without being inflated to measure it. */
export function uninspectedBytes(
  { admitted, contentEncoding }: Pick<ExportCall, 'admitted' | 'contentEncoding'>,
  { maxBodyBytes, inspectInflatedSize }: InflationRules,
): number {
  const isTrusted = admitted.token !== undefined && inspectInflatedSize === 'unauthenticated'
  return isTrusted ? Number.POSITIVE_INFINITY : safeWireBytes(contentEncoding, maxBodyBytes)
}

export type InflationVerdict = 'fits' | 'too_large' | 'invalid'

/**
 * Inflates a copy of a body for its size alone, and keeps nothing of what comes out. A body that ends within
 * `safeWireBytes` is not inflated at all.
 *
 * @see spec/otlp-gateway.md 1.1 P-9
 */
export class InflatedSizeCheck {
  readonly #coding: string
  readonly #limitBytes: number
  readonly #safeWireBytes: number
  readonly #on: { readonly onDrained: () => void; readonly onVerdict: (verdict: InflationVerdict) => void }
  readonly #held = new BodyBuffer(undefined)
  #inflater: Inflater | undefined
  #givenBytes = 0
  #inflatedBytes = 0
  #isConcluded = false

  /** `drained`: after `write` said false. `judged` is called once: after `end`, or as soon as it is clear. */
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

  /** False: wait for `drained`. */
  write(piece: Uint8Array): boolean {
    if (this.#isConcluded) return true
    this.#givenBytes += piece.length
    if (this.#inflater !== undefined) return this.#inflater.write(piece)
    this.#held.add(piece)
    if (this.#givenBytes <= this.#safeWireBytes) return true
    this.#inflater = this.#start()
    return this.#inflater.write(this.#held.bytes())
  }

  end(): void {
    if (this.#inflater === undefined) this.#conclude('fits')
    else if (!this.#isConcluded) this.#inflater.end()
  }

  /** No verdict will come any more. */
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
    // Zlib stops at zero bytes after a member, and a decoder behind us may not: what it did not look at is not judged.
    inflater.on('end', () => this.#conclude(inflater.bytesWritten === this.#givenBytes ? 'fits' : 'invalid'))
    return inflater
  }

  #conclude(verdict: InflationVerdict): void {
    if (this.#isConcluded) return
    this.cancel()
    this.#on.onVerdict(verdict)
  }
}
