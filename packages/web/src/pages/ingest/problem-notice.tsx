import { Notice } from '../../components/page-states.tsx'
import type { Problem } from './use-action.ts'

/** The error of a change, shown where the user asked for it. */
export function ProblemNotice({ problem }: { readonly problem: Problem | undefined }) {
  if (problem === undefined) return null
  return (
    <Notice meaning="failed" role="alert">
      {problem.text}
      {problem.requestId === '' ? null : (
        <span class="dim">
          {' '}
          Request <code>{problem.requestId}</code>.
        </span>
      )}
    </Notice>
  )
}
