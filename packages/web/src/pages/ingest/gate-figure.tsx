import type { EnforcementMode, Readiness } from '../../api/answers.ts'
import { numberText } from '../../components/text.tsx'

/** A drawing of the gate: the requests with a token pass, and those without pass only while it is open. */
export function GateFigure({ mode, readiness }: { readonly mode: EnforcementMode; readonly readiness: Readiness }) {
  const refused = numberText(readiness.would_reject)
  const admitted = numberText(readiness.requests - readiness.would_reject)
  const isOpen = mode !== 'enforce'
  const label = isOpen
    ? `The gate is open: ${admitted} requests with a valid token and ${refused} without pass to the store`
    : `The gate is closed: ${admitted} requests with a valid token pass to the store, and requests without are refused`
  return (
    <figure>
      <svg viewBox="0 0 332 132" role="img" aria-label={label}>
        <path class="rail" d="M8 38h118M8 94h118M194 38h130M194 94h130" />
        <path class="flow-valid" d="M16 56h300" />
        {readiness.would_reject > 0 ? <path class="flow-other" d={isOpen ? 'M16 80h300' : 'M16 80h120'} /> : null}
        <path class="post" d="M140 6v120M180 6v120" />
        <rect class="leaf" x="146" y={isOpen ? 8 : 66} width="28" height="26" />
        <path class="post" d={isOpen ? 'M160 0v10' : 'M160 0v68'} />
        <text class="b" x="16" y="30">
          Senders
        </text>
        <text x="16" y="112">
          {admitted} with a token
        </text>
        <text x="16" y="127">
          {refused} without, dashed
        </text>
        <text class="b" x="250" y="30">
          Store
        </text>
        <text x="196" y="112">
          {isOpen ? 'gate open, all pass' : 'gate closed'}
        </text>
      </svg>
    </figure>
  )
}
