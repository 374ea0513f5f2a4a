import { useRef, useState } from 'preact/hooks'
import { ApiError } from '../../api/client.ts'
import { failureText, fieldErrors } from './management-errors.ts'
import type { FieldErrors } from './token-form-model.ts'

/** A change that the user asked for: whether it is under way, and what is wrong with it. */
export interface Action {
  readonly isBusy: boolean
  readonly problem: Problem | undefined
  readonly fieldErrors: FieldErrors
  /** Runs the change. Does nothing while another one is under way. */
  readonly run: (change: () => Promise<void>) => void
  /** Shows problems that were found before anything was sent. */
  readonly refuse: (errors: FieldErrors) => void
}

export interface Problem {
  readonly text: string
  readonly code: string
  readonly requestId: string
}

export function useAction(): Action {
  const [state, setState] = useState<Pick<Action, 'isBusy' | 'problem' | 'fieldErrors'>>({
    isBusy: false,
    problem: undefined,
    fieldErrors: {},
  })
  // Controls stay enabled, because a disabled one loses the focus.
  const isBusy = useRef(false)
  const run = (change: () => Promise<void>) => {
    if (isBusy.current) return
    isBusy.current = true
    setState({ isBusy: true, problem: undefined, fieldErrors: {} })
    const settle = (problems: Pick<Action, 'problem' | 'fieldErrors'>) => {
      isBusy.current = false
      setState({ isBusy: false, ...problems })
    }
    change().then(
      () => settle({ problem: undefined, fieldErrors: {} }),
      (error: unknown) => settle(problemsOf(error)),
    )
  }
  const refuse = (errors: FieldErrors) => setState({ isBusy: false, problem: undefined, fieldErrors: errors })
  return { ...state, run, refuse }
}

function problemsOf(error: unknown): Pick<Action, 'problem' | 'fieldErrors'> {
  const failure = error instanceof ApiError ? error : new ApiError(String(error), 0)
  const problem = { text: failureText(failure), code: failure.code, requestId: failure.requestId }
  return { problem, fieldErrors: fieldErrors(failure) }
}
