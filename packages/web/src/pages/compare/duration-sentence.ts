import type { Comparison, JobDifference } from '../../api/answers.ts'
import { differenceText, durationText, toSeconds } from '../../components/duration.ts'
import { namePart, type SentencePart, SMALL_SECONDS, secondsChanged, wordsPart } from './comparison-sentence.ts'

/** Two runs took about as long if they differ by less than one of these. */
const SAME_SECONDS = 2
const SAME_SHARE = 0.02
/** The share of the difference from which a job, or all jobs together, are its reason. */
const REASON_SHARE = 0.5
const MAX_NAMES = 2

/**
 * Returns the sentence about the durations of a comparison: how much longer the later side took, and which job explains it. Returns nothing
 * if a duration is unknown. docs/guides/console-pages.md states the rule.
 */
export function durationSentence({ a, b, base, jobs }: Comparison): SentencePart[] {
  const secondsOfA = toSeconds(a.duration_ns)
  const secondsOfB = 'kind' in b ? b.duration_seconds : toSeconds(b.duration_ns)
  if (secondsOfA === null || secondsOfB === null) return []
  const [before, after] = base === 'a' ? [secondsOfA, secondsOfB] : [secondsOfB, secondsOfA]
  const [subject, other] = base === 'a' ? ['B', 'A'] : ['A', 'the median']
  const delta = after - before
  const isSame = Math.abs(delta) < SAME_SECONDS || Math.abs(delta) < before * SAME_SHARE
  const amount = `${durationText(Math.abs(delta))} ${delta > 0 ? 'longer' : 'less'} than ${other}`
  return [
    wordsPart(isSame ? `${subject} took as long as ${other}` : `${subject} took ${amount}`),
    ...(isSame ? [] : reasonParts(jobs, base, delta)),
    wordsPart('. '),
  ]
}

/** Returns the jobs that changed in the direction of the whole run: the one that explains half of it or more, or the largest of several. */
function reasonParts(jobs: readonly JobDifference[], base: Comparison['base'], delta: number): SentencePart[] {
  const changes = jobs
    .map((job) => ({ name: job.name, seconds: secondsChanged(job, base) }))
    .filter(({ seconds }) => seconds * delta > 0 && Math.abs(seconds) > SMALL_SECONDS)
    .toSorted((one, other) => Math.abs(other.seconds) - Math.abs(one.seconds))
  const first = changes[0]
  const isReason = (seconds: number) => Math.abs(seconds) >= Math.abs(delta) * REASON_SHARE
  const all = changes.reduce((sum, { seconds }) => sum + seconds, 0)
  if (first === undefined || !isReason(all)) return [wordsPart(', mostly in waiting between jobs')]
  if (isReason(first.seconds)) return [wordsPart(': mostly '), ...changeParts(first)]
  const named = changes.slice(0, MAX_NAMES)
  const rest = changes.length - named.length
  return [
    wordsPart(`: ${changes.length} jobs, most of all `),
    ...named.flatMap((change, index) => [...(index === 0 ? [] : [wordsPart(' and ')]), ...changeParts(change)]),
    ...(rest === 0 ? [] : [wordsPart(`, ${rest} more`)]),
  ]
}

const changeParts = ({ name, seconds }: { readonly name: string; readonly seconds: number }): SentencePart[] => [
  namePart(name),
  wordsPart(` (${differenceText(seconds)})`),
]
