import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { getReadiness, getState } from '../api/readiness.ts'
import { countClients } from '../api/refused-names.ts'
import { useResource } from '../components/resource.ts'

const REFRESH_MS = 60_000

/** Grows with every refresh, so that the number is loaded again. */
const round = signal(0)

/** Loads the number of clients that would be refused again, such as after a change of tokens or enforcement. */
export function refreshRefusedClients(): void {
  round.value += 1
}

/**
 * Returns the number of clients that get in now and that enforcement would refuse: 0 while enforcement is on.
 *
 * @throws {ApiError}
 */
export async function countRefusedClients(signal?: AbortSignal): Promise<number> {
  const { data } = await getState(signal)
  return data.mode === 'enforce' ? 0 : countClients((await getReadiness(undefined, signal)).clients)
}

/** Returns that number, which is loaded again each minute while the page is visible; 0 while it is unknown. */
export function useRefusedClients(): number {
  const { data } = useResource(`refused clients ${round.value}`, countRefusedClients)
  useEffect(() => {
    const refreshIfVisible = () => {
      if (document.visibilityState === 'visible') refreshRefusedClients()
    }
    const timer = setInterval(refreshIfVisible, REFRESH_MS)
    document.addEventListener('visibilitychange', refreshIfVisible)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', refreshIfVisible)
    }
  }, [])
  return data ?? 0
}
