import { useEffect, useRef, useState } from 'preact/hooks'
import { type Query, toAddress } from './client.ts'

/** Whether live updates arrive. */
export type LiveState = 'off' | 'connecting' | 'on'

const SETTLE_MS = 400
const REOPEN_MS = 15_000

/**
 * Calls the listener when the service says that something new has arrived. Events that follow one another are reported once.
 * `query` is null while live updates are off.
 */
export function useLive(query: Query | null, onNews: () => void): LiveState {
  const [state, setState] = useState<LiveState>('off')
  const [attempt, setAttempt] = useState(0)
  const latest = useRef(onNews)
  latest.current = onNews
  const address = query === null ? null : toAddress('/api/v1/observe/live', query)
  useEffect(() => {
    if (address === null) return setState('off')
    setState('connecting')
    const source = new EventSource(address)
    let timer = 0
    const report = () => {
      clearTimeout(timer)
      timer = window.setTimeout(() => latest.current(), SETTLE_MS)
    }
    source.addEventListener('open', () => {
      setState('on')
      // The stream begins at the present: what arrived after the list was read, or during a break, is fetched.
      report()
    })
    let reopening = 0
    source.addEventListener('error', () => {
      setState('connecting')
      if (source.readyState !== EventSource.CLOSED) return
      // The stream was refused. An ordinary request shows whether the session has ended.
      report()
      reopening = window.setTimeout(() => setAttempt((before) => before + 1), REOPEN_MS)
    })
    for (const name of ['pipeline', 'log']) source.addEventListener(name, report)
    return () => {
      clearTimeout(timer)
      clearTimeout(reopening)
      source.close()
    }
  }, [address, attempt])
  return state
}
