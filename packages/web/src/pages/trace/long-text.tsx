import { useState } from 'preact/hooks'
import { numberText } from '../../components/text.tsx'

const SHORT = 2_000
const LONGEST = 200_000

/**
 * A text from telemetry. It is isolated, so that marks for the direction of writing cannot turn what stands around it. Of a
 * long text the beginning is shown, and the rest on request.
 */
export function LongText({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false)
  if (text.length <= SHORT) return <bdi>{text}</bdi>
  return (
    <>
      <bdi>{text.slice(0, isWhole ? LONGEST : SHORT)}…</bdi>{' '}
      <button class="link" type="button" onClick={() => setWhole(!isWhole)}>
        {isWhole ? 'Show less' : `Show more of ${numberText(text.length)} characters`}
      </button>
    </>
  )
}
