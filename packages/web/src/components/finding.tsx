import type { Finding, FindingPart } from '../api/answers.ts'
import { durationText } from './duration.ts'
import { nowMs } from './now.ts'
import { numberText, percentText } from './text.tsx'
import { localText, toMilliseconds } from './time.ts'

/** The sentence of a finding, with its numbers in the viewer's units. Its names link to the evidence. */
export function FindingText({ finding }: { readonly finding: Finding }) {
  const links = toPartLinks(finding)
  return (
    <>
      {finding.parts.map((part, index) => {
        if ('text' in part) return part.text
        const text = findingPartText(part, nowMs.value)
        const content = <bdi class={'name' in part ? 'strong' : 'strong nowrap'}>{text}</bdi>
        const href = links[index]
        return href === undefined ? (
          <span key={index}>{content}</span>
        ) : (
          <a key={index} href={href}>
            {content}
          </a>
        )
      })}
      {links.includes(finding.link) ? (
        '.'
      ) : (
        <>
          . <a href={finding.link}>Show the runs</a>
        </>
      )}
    </>
  )
}

/** Returns the link of each part: its own one; the first other name or day has the one of the finding. */
export function toPartLinks({ parts, link }: Finding): readonly (string | undefined)[] {
  const own = parts.map((part) => ('name' in part ? part.link : undefined))
  const first = parts.findIndex((part, index) => own[index] === undefined && ('name' in part || 'day_ns' in part))
  return own.map((each, index) => each ?? (index === first ? link : undefined))
}

/** Returns a piece of a sentence as a page shows it. */
export function findingPartText(part: FindingPart, now: number): string {
  if ('text' in part) return part.text
  if ('name' in part) return part.name
  if ('seconds' in part) return durationText(part.seconds)
  if ('ratio' in part) return percentText(part.ratio)
  if ('count' in part) return numberText(part.count)
  return localText(toMilliseconds(part.day_ns), 'day', now)
}
