import type { Finding, FindingPart } from '../api/insights.ts'
import { durationText } from './duration.ts'
import { nowMs } from './now.ts'
import { numberText, percentText } from './text.tsx'
import { localText, millisecondsOf } from './time.ts'

/** The sentence of a finding, with its numbers in the viewer's units. Its first name links to the evidence. */
export function FindingText({ finding }: { readonly finding: Finding }) {
  const linked = finding.parts.findIndex((part) => 'name' in part || 'day_ns' in part)
  return (
    <>
      {finding.parts.map((part, index) => {
        const text = partText(part)
        if (index === linked) {
          return (
            <a key={text} href={finding.link}>
              <bdi class="strong">{text}</bdi>
            </a>
          )
        }
        return 'text' in part ? (
          text
        ) : (
          <bdi key={text} class="strong">
            {text}
          </bdi>
        )
      })}
      {linked === -1 ? (
        <>
          {'. '}
          <a href={finding.link}>Show the runs</a>
        </>
      ) : (
        '.'
      )}
    </>
  )
}

function partText(part: FindingPart): string {
  if ('text' in part) return part.text
  if ('name' in part) return part.name
  if ('seconds' in part) return durationText(part.seconds)
  if ('ratio' in part) return percentText(part.ratio)
  if ('count' in part) return numberText(part.count)
  return localText(millisecondsOf(part.day_ns), 'day', nowMs.value)
}
