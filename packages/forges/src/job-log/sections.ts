import { MAX_STEPS } from '../record/limits.ts'
import type { StepRecord } from '../record/pipeline-record.ts'
import { maskSecrets } from './mask-secrets.ts'
import { isAfterScript } from './runner-sections.ts'
import type { SectionMarker } from './section-marker.ts'

/** The status of a section. A log does not contain whether its commands succeeded. */
const UNKNOWN = 'unknown'
const MAX_TITLE_CHARACTERS = 512

interface OpenSection {
  readonly name: string
  readonly parent: number | undefined
  readonly startedAtNs: bigint | undefined
  title: string | undefined
  finishedAtNs: bigint | undefined
}

/** Collects the sections of a log, up to `MAX_STEPS`. Further sections are counted. */
export class Sections {
  /** The number of sections that were too many to be stored. */
  dropped = 0
  readonly #all: OpenSection[] = []
  /** The positions of the open sections in `#all`, the outermost first. */
  readonly #open: number[] = []
  /** The time of the last marker that has one. */
  #lastNs: bigint | undefined
  #openAfterScript = 0

  /** Whether a section is open that the runner writes after the script. */
  get isAfterScript(): boolean {
    return this.#openAfterScript > 0
  }

  /** Returns whether a section has started, so that the text after the marker is its title. */
  add({ kind, name, timeNs }: SectionMarker): boolean {
    this.#lastNs = timeNs ?? this.#lastNs
    if (kind === 'start') return this.#start(name)
    this.#end(name)
    return false
  }

  /** Sets the title of the section that started last. */
  addTitle(text: string): void {
    const section = this.#all.at(-1)
    if (section !== undefined) section.title = maskSecrets(text).trim().slice(0, MAX_TITLE_CHARACTERS) || undefined
  }

  toSteps(): StepRecord[] {
    return this.#all.map(({ name, startedAtNs, finishedAtNs, title, parent }) => ({
      name: maskSecrets(name),
      status: UNKNOWN,
      startedAtNs,
      finishedAtNs,
      section: { title, parent },
    }))
  }

  #start(name: string): boolean {
    if (this.#all.length >= MAX_STEPS) {
      this.dropped += 1
      return false
    }
    const outer = this.#open.at(-1)
    this.#all.push({
      name,
      parent: outer === undefined ? undefined : outer + 1,
      startedAtNs: this.#lastNs,
      title: undefined,
      finishedAtNs: undefined,
    })
    this.#open.push(this.#all.length - 1)
    if (isAfterScript(name)) this.#openAfterScript += 1
    return true
  }

  /** Ends the innermost open section of that name, and the sections that are still open in it. */
  #end(name: string): void {
    const depth = this.#open.findLastIndex((at) => this.#all[at]?.name === name)
    if (depth < 0) return
    for (const at of this.#open.splice(depth)) {
      const section = this.#all[at]!
      section.finishedAtNs = this.#lastNs
      if (isAfterScript(section.name)) this.#openAfterScript -= 1
    }
  }
}
