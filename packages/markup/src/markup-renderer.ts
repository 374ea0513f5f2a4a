import { extname } from 'node:path'
import { WorkerPool, WorkersBusyError, WorkerTimeoutError } from '@penstock/runtime'
import type { MarkupFormat } from './formats/format-names.ts'
import { referenceHtml } from './reference-links.ts'
import type { Reference, ReferenceLink, ReferenceResolver } from './references.ts'
import type { RenderPart, RenderTask } from './render-parts.ts'
import { defaultLimits, type MarkupLimits } from './sanitise/limits.ts'
import type { LinkBase } from './sanitise/links.ts'
import { MarkupError } from './sanitise/markup-error.ts'

/** The extension of this file: `.ts` if the sources run directly, `.js` if they are built. */
const ownExtension = extname(import.meta.url)
/** Parsers recurse for each level of a text, and the one of Org for each word of a section. */
const STACK_MEGABYTES = 32

/** A text to render. */
interface RenderRequest {
  readonly format: MarkupFormat
  readonly text: string
  /** Where relative links and images lead. Absent: they stay relative. */
  readonly base?: LinkBase | undefined
  /** Answers which references become links. Absent: none. Called at most once, and only if there are references. */
  readonly resolve?: ReferenceResolver | undefined
}

/** Renders texts of users to HTML that is safe to show in a page, in worker threads. */
export class MarkupRenderer {
  readonly #limits: MarkupLimits
  readonly #pool: WorkerPool<RenderTask, RenderPart>

  private constructor(limits: MarkupLimits) {
    this.#limits = limits
    this.#pool = new WorkerPool<RenderTask, RenderPart>({
      script: new URL(`./render-worker${ownExtension}`, import.meta.url),
      threads: limits.threads,
      maxWaiting: limits.maxWaiting,
      maxHeapMegabytes: limits.maxHeapMegabytes,
      stackMegabytes: STACK_MEGABYTES,
      maxTaskMs: limits.maxTaskMs,
    })
  }

  /** Returns a renderer. Its threads start when they are first needed. */
  static start(limits: Partial<MarkupLimits> = {}): MarkupRenderer {
    return new MarkupRenderer({ ...defaultLimits, ...limits })
  }

  /**
   * Returns the text as sanitised HTML.
   *
   * @throws MarkupError if the text exceeds a limit, or too many texts wait; errors of `resolve`
   */
  async render({ format, text, base, resolve }: RenderRequest): Promise<string> {
    const findsReferences = resolve !== undefined
    const parts = await this.#run({ kind: 'markup', format, text, base, findsReferences, limits: this.#limits })
    const references = parts.flatMap((part) => (part.kind === 'references' ? part.references : []))
    const links = references.length === 0 ? [] : await resolve!(references)
    return joinHtml(parts, references, links)
  }

  /**
   * Returns a file as lines of HTML with the classes of highlight.js. A text in an unknown language, or a long text, is
   * only escaped.
   *
   * @throws MarkupError if the text exceeds a limit, or too many texts wait
   */
  async highlight({ text, fileName }: { readonly text: string; readonly fileName: string }): Promise<string> {
    return joinHtml(await this.#run({ kind: 'file', text, fileName, limits: this.#limits }), [], [])
  }

  /** Ends the threads. Unfinished renderings fail. */
  close(): Promise<void> {
    return this.#pool.close()
  }

  async #run(task: RenderTask): Promise<RenderPart[]> {
    const maxBytes = task.kind === 'file' ? this.#limits.maxFileBytes : this.#limits.maxTextBytes
    if (Buffer.byteLength(task.text) > maxBytes) throw new MarkupError('text_too_long')
    const parts = await this.#pool.run(task).catch((error: unknown) => {
      throw errorOf(error)
    })
    const [first] = parts
    if (first?.kind === 'refused') throw new MarkupError(first.reason)
    return parts
  }
}

function joinHtml(
  parts: readonly RenderPart[],
  references: readonly Reference[],
  links: readonly (ReferenceLink | undefined)[],
): string {
  const htmlOf = references.map((reference, index) => referenceHtml(reference, links[index]))
  const pieces = parts.flatMap((part) => (part.kind === 'html' ? part.pieces : []))
  return pieces.map((piece) => (typeof piece === 'number' ? htmlOf[piece] : piece)).join('')
}

function errorOf(error: unknown): MarkupError {
  if (error instanceof WorkersBusyError) return new MarkupError('busy')
  if (error instanceof WorkerTimeoutError) return new MarkupError('too_slow')
  const isMemory = error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
  return new MarkupError(isMemory ? 'too_much_memory' : 'failed', { cause: error })
}
