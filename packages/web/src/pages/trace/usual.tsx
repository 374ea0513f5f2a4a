import { getComparison } from '../../api/compare.ts'
import { durationText } from '../../components/duration.ts'
import { useResource } from '../../components/resource.ts'
import type { TraceNode } from './trace-tree.ts'
import { hasUsualDuration, type UsualDuration, usualDuration } from './usual-duration.ts'

interface UsualProps {
  readonly traceId: string
  readonly node: TraceNode
}

/** Says how long a job of a pipeline usually takes. The line has its place before the answer is there, so that nothing moves. */
export function Usual({ traceId, node }: UsualProps) {
  const isKnown = hasUsualDuration(node)
  const comparison = useResource(isKnown ? traceId : null, (signal) => getComparison(traceId, 'median', signal))
  if (!isKnown) return null
  const usual = comparison.data === undefined ? undefined : usualDuration(comparison.data, node)
  return (
    <p class="soft">
      {usual !== undefined ? (
        <Sentence usual={usual} traceId={traceId} />
      ) : comparison.error !== undefined ? (
        'Its usual duration could not be loaded.'
      ) : comparison.data === undefined ? (
        '\u00a0'
      ) : (
        'No earlier successful run of this kind to compare with.'
      )}
    </p>
  )
}

function Sentence({ usual, traceId }: { readonly usual: UsualDuration; readonly traceId: string }) {
  return (
    <>
      usually {durationText(usual.seconds)},{' '}
      <a href={`/compare?a=${encodeURIComponent(traceId)}&b=median`}>
        median of {usual.runs === 1 ? '1 run' : `${usual.runs} runs`}
      </a>
      {differenceWords(usual)}
    </>
  )
}

function differenceWords({ longerSeconds }: UsualDuration): string {
  if (longerSeconds === undefined) return ''
  if (longerSeconds === 0) return '; now about as long'
  return `; now ${durationText(Math.abs(longerSeconds))} ${longerSeconds > 0 ? 'longer' : 'less'}`
}
