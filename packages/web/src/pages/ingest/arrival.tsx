import { useEffect, useState } from 'preact/hooks'
import { session } from '../../app/session.ts'
import { Notice } from '../../components/page-states.tsx'
import { type Arrived, findArrival } from './find-arrival.ts'

type State = Arrived | 'given_up'

interface ArrivalProps {
  readonly tokenId: string
  /** The trace that the example sends; null if it sends something else. */
  readonly traceId: string | null
}

const ASK_MS = 2_000
/** Five minutes. A dialog that stays open longer asks no more. */
const MOST_QUESTIONS = 150

/** Shows when a new token is used for the first time, and when the trace of the example is stored. */
export function Arrival({ tokenId, traceId }: ArrivalProps) {
  const [state, setState] = useState<State>('waiting')
  const [round, setRound] = useState(0)
  const storedTraceId = session.value?.observe.connected === true ? traceId : null
  useEffect(() => {
    let timer = 0
    let isGone = false
    let left = MOST_QUESTIONS
    const ask = async () => {
      // The next question may succeed after one that failed.
      const found = await findArrival(tokenId, storedTraceId).catch((): State => 'waiting')
      if (isGone) return
      left -= 1
      const isDone = found === 'arrived' || (found === 'used' && storedTraceId === null)
      if (found !== 'waiting') setState(found)
      if (isDone) return
      if (left > 0) timer = window.setTimeout(() => void ask(), ASK_MS)
      else if (found === 'waiting') setState('given_up')
    }
    setState('waiting')
    void ask()
    return () => {
      isGone = true
      clearTimeout(timer)
    }
  }, [tokenId, storedTraceId, round])
  return (
    <div role="status">
      {state === 'waiting' ? (
        <p class="soft">Nothing has arrived with this token yet. This text changes when something does.</p>
      ) : null}
      {state === 'used' ? (
        <Notice meaning="passed">
          The token was used for the first time{storedTraceId === null ? '.' : '; the trace is not stored yet.'}
        </Notice>
      ) : null}
      {state === 'arrived' ? (
        <Notice meaning="passed">
          The trace has arrived. <a href={`/traces/${storedTraceId}`}>Open the trace</a>
        </Notice>
      ) : null}
      {state === 'given_up' ? (
        <p class="soft">
          Nothing has arrived for five minutes.{' '}
          <button class="btn small" type="button" onClick={() => setRound(round + 1)}>
            Look again
          </button>
        </p>
      ) : null}
    </div>
  )
}
