import type { CriticalPath } from './critical-path.ts'
import { isFailure } from './trace-rows.ts'
import type { TraceSpan } from './trace-span.ts'
import { cutText, durationText, shortName } from './trace-text.ts'
import type { TraceNode, TraceTree } from './trace-tree.ts'

/**
 * A piece of the sentence. With an id it is a link to the span. A name from telemetry is a piece of its own, so that the page
 * can isolate its direction of writing from the words around it.
 */
export interface SentencePart {
  readonly text: string
  readonly strong?: boolean
  readonly spanId?: string
}

const MAX_NAMES = 3
const MAX_TEXT = 80

/**
 * Returns what failed, what made the pipeline slow, and what passed only when it was tried again. Returns nothing for a trace
 * without a pipeline, and for a pipeline about which there is nothing to say.
 */
export function traceSentence(tree: TraceTree, path: CriticalPath): SentencePart[] {
  const root = tree.roots.find(({ span }) => span.kind === 'pipeline')
  if (root === undefined) return []
  const failed = finalFailures(root)
  return [...failureParts(failed, root), ...pathParts(root, path, failed), ...retryParts(root)]
}

/** Returns the failed jobs of a pipeline and its children, without those that a later attempt repaired. */
function finalFailures(root: TraceNode): TraceNode[] {
  return descendants(root).filter((node) => isFailure(node) && isLastAttempt(node) && node.span.kind !== 'span')
}

const isLastAttempt = ({ attempt }: TraceNode): boolean => attempt === undefined || attempt.number === attempt.of

function failureParts(failed: readonly TraceNode[], { span }: TraceNode): SentencePart[] {
  const first = failed[0]
  if (first === undefined) {
    if (span.status === 'failed') return [{ text: 'Failed' }, ...reasonOf(span), { text: '. ' }]
    return span.status === 'canceled' ? [{ text: 'Canceled. ' }] : []
  }
  const more = failed.length === 1 ? '' : `, and in ${failed.length - 1} more`
  return [
    { text: span.status === 'failed' ? 'Failed in ' : 'Passed, but failed in ' },
    ...placeOf(first).flatMap((name) => [strong(name), strong(' › ')]),
    { text: nameOf(first), strong: true, spanId: first.span.id },
    ...reasonOf(first.span),
    { text: `${more}. ` },
  ]
}

const strong = (text: string): SentencePart => ({ text, strong: true })

const reasonOf = ({ reason }: TraceSpan): SentencePart[] =>
  reason === undefined ? [] : [{ text: ' (' }, { text: cutText(reason, MAX_TEXT) }, { text: ')' }]

const nameOf = ({ span }: TraceNode): string => cutText(shortName(span), MAX_TEXT)

/** Returns the bridges above a job, and its stage: `service`, `test`. */
function placeOf({ span, parent }: TraceNode): string[] {
  const names = span.stage === undefined ? [] : [cutText(span.stage, MAX_TEXT)]
  for (let above = parent; above !== undefined; above = above.parent) {
    if (above.span.kind === 'bridge') names.unshift(nameOf(above))
  }
  return names
}

function pathParts(root: TraceNode, path: CriticalPath, failed: readonly TraceNode[]): SentencePart[] {
  const steps = descendants(root)
    .filter(({ span }) => isTask(span) && (path.get(span.id) ?? 0) > 0)
    .sort((a, b) => a.span.startNs - b.span.startNs || a.level - b.level)
  const { span } = root
  const totalNs = span.endNs - span.startNs
  if (steps.length === 0 || totalNs <= 0) return []
  const pathNs = steps.reduce((sum, step) => sum + path.get(step.span.id)!, 0)
  const start = { text: openingOf(failed, path) }
  const amount = { text: `, ${durationText(pathNs)} of ${durationText(totalNs)}. ` }
  return [start, ...namesOf(steps, path), amount, ...waitParts(steps, totalNs)]
}

function openingOf(failed: readonly TraceNode[], path: CriticalPath): string {
  if (failed.length === 0) return 'The slowest path is '
  const isOnPath = failed.some(({ span }) => path.has(span.id))
  return isOnPath ? 'It is on the slowest path: ' : 'The failure did not make it slow: the slowest path is '
}

/** Returns the name of a step. An attempt that was repeated says so, because its name appears twice. */
function stepName(step: TraceNode): SentencePart[] {
  const name = strong(nameOf(step))
  return isLastAttempt(step) ? [name] : [name, strong(` (attempt ${step.attempt?.number})`)]
}

/** Returns the steps that take longest, in order of time, with a mark where two or more others were left out. */
function namesOf(steps: readonly TraceNode[], path: CriticalPath): SentencePart[] {
  const longest = new Set(steps.toSorted((a, b) => path.get(b.span.id)! - path.get(a.span.id)!).slice(0, MAX_NAMES))
  const isLongest = (index: number) => steps[index] === undefined || longest.has(steps[index])
  return steps.flatMap((step, index) => {
    const isNamed = isLongest(index) || (isLongest(index - 1) && isLongest(index + 1))
    if (!isNamed && !isLongest(index - 1)) return []
    return [...(index === 0 ? [] : [strong(' → ')]), ...(isNamed ? stepName(step) : [strong('…')])]
  })
}

/** The share of the duration from which waiting for a runner is worth a sentence. */
const NOTABLE_WAIT = 0.1

function waitParts(steps: readonly TraceNode[], totalNs: number): SentencePart[] {
  const waitedNs = steps.reduce((sum, { span }) => sum + span.queuedNs, 0)
  if (waitedNs < totalNs * NOTABLE_WAIT) return []
  return [{ text: `Its jobs waited ${durationText(waitedNs)} for a runner. ` }]
}

const ordinals = ['first', 'second', 'third', 'fourth', 'fifth']

function retryParts(root: TraceNode): SentencePart[] {
  const repaired = descendants(root).filter(
    (node) => node.attempt !== undefined && isLastAttempt(node) && node.span.status === 'success',
  )
  const first = repaired[0]
  if (first === undefined) return []
  const { number } = first.attempt!
  const attempt = `its ${ordinals[number - 1] ?? `${number}th`} attempt`
  const more = repaired.length === 1 ? '' : `, ${repaired.length - 1} more when tried again`
  return [{ text: nameOf(first), strong: true, spanId: first.span.id }, { text: ` passed on ${attempt}${more}.` }]
}

const isTask = ({ kind }: TraceSpan): boolean => kind === 'job' || kind === 'bridge'

function descendants(root: TraceNode): TraceNode[] {
  const found: TraceNode[] = []
  const waiting = [root]
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    found.push(node)
    for (let index = node.children.length - 1; index >= 0; index -= 1) waiting.push(node.children[index]!)
  }
  return found
}
