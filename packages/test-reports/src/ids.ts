import { hashedSpanId } from '@penstock/converter'

/** The span that a report belongs to, and the name of the report within it. */
export interface ReportPlace {
  readonly traceId: string
  /** The id of the job's span. */
  readonly parentSpanId: string
  readonly traceState: string
  /** The W3C trace flags. */
  readonly traceFlags: number
  /** The path of the report as the job knows it; '' if it has none. Reports with different names have different ids. */
  readonly reportName: string
}

/**
 * Derives the ids of spans from the names of a report, so that reading it twice, or in another order, results in the same ids.
 * Equal names below one parent are numbered.
 */
export class SpanIds {
  readonly #place: ReportPlace
  readonly #occurrences = new Map<string, number>()

  constructor(place: ReportPlace) {
    this.#place = place
  }

  /** @param parentId the id of the suite above, which represents the path of suites; '' at the top */
  suiteId(parentId: string, name: string): string {
    return this.#id(['suite', parentId, name])
  }

  caseId(
    parentId: string,
    parts: { namedFile: string | undefined; className: string | undefined; name: string },
  ): string {
    return this.#id(['case', parentId, parts.namedFile ?? '', parts.className ?? '', parts.name])
  }

  #id(names: readonly string[]): string {
    // JSON separates the names: none of them can contain the separator.
    const key = JSON.stringify(names)
    const occurrence = (this.#occurrences.get(key) ?? 0) + 1
    this.#occurrences.set(key, occurrence)
    const { traceId, parentSpanId, reportName } = this.#place
    return hashedSpanId(`test\n${traceId}\n${parentSpanId}\n${JSON.stringify(reportName)}\n${key}\n${occurrence}`)
  }
}
