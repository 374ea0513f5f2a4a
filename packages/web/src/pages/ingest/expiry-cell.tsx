import type { IngestToken } from '../../api/answers.ts'
import { nowMs } from '../../components/now.ts'
import { Status } from '../../components/status.tsx'
import { utcText } from '../../components/time.ts'
import { toExpiry } from './token-model.ts'

interface ExpiryCellProps {
  readonly of: Pick<IngestToken, 'expires_at' | 'expires_soon' | 'status'>
}

/** The time until a token or a key expires, with the exact time in UTC as its title. */
export function ExpiryCell({ of }: ExpiryCellProps) {
  const { text, tone } = toExpiry(of, nowMs.value)
  return (
    <span title={of.expires_at === null ? undefined : utcText(Date.parse(of.expires_at))}>
      {tone === undefined ? <span class="soft">{text}</span> : <Status meaning={tone}>{text}</Status>}
    </span>
  )
}
