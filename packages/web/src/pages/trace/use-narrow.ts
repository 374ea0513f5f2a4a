import { useEffect, useState } from 'preact/hooks'

const query = '(max-width: 720px)'

/** Returns whether the page is so narrow that a row of the waterfall has two lines. */
export function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(() => matchMedia(query).matches)
  useEffect(() => {
    const list = matchMedia(query)
    const update = () => setNarrow(list.matches)
    list.addEventListener('change', update)
    return () => list.removeEventListener('change', update)
  }, [])
  return isNarrow
}
