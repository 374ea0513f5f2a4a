import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../api/client.ts'
import { Notice } from '../components/page-states.tsx'
import { Mark } from './icons.tsx'
import { sessionNote, signIn } from './session.ts'
import type { SessionNote } from './session-note.ts'

/** The form that signs in with an API key. It stands on every path without a session, and the path stays. */
export function SignIn() {
  const field = useRef<HTMLInputElement>(null)
  const [problem, setProblem] = useState('')
  const [isBusy, setBusy] = useState(false)
  useEffect(() => {
    document.title = 'Sign in · Penstock'
    field.current?.focus()
  }, [])
  const submit = (event: Event) => {
    event.preventDefault()
    const key = field.current?.value.trim() ?? ''
    if (key === '' || isBusy) return
    setBusy(true)
    setProblem('')
    sessionNote.value = null
    signIn(key).catch((error: unknown) => {
      setBusy(false)
      setProblem(problemOf(error))
      field.current?.select()
    })
  }
  const note: SessionNote | null = problem === '' ? sessionNote.value : { meaning: 'failed', text: problem }
  return (
    <div class="door">
      <main id="main">
        <div class="panel">
          <form onSubmit={submit}>
            <div class="mark">
              <Mark size={30} />
              <div>
                <h1>Penstock</h1>
                <p class="soft">Pipeline telemetry, behind a gate</p>
              </div>
            </div>
            <div class="field">
              <label for="api-key">API key</label>
              <input
                ref={field}
                id="api-key"
                type="password"
                autocomplete="off"
                spellcheck={false}
                aria-describedby="api-key-hint"
                aria-invalid={problem !== ''}
                maxLength={512}
                required
              />
              <span class="hint" id="api-key-hint">
                Starts with <code>psak_</code>. The browser does not keep it.
              </span>
            </div>
            <button class="btn primary" type="submit" disabled={isBusy}>
              Sign in
            </button>
            {note === null ? null : (
              <Notice meaning={note.meaning} role={note.meaning === 'failed' ? 'alert' : 'status'}>
                {note.text}
              </Notice>
            )}
            <p class="hint">
              No key yet? An administrator can create one under API keys, or on the server with{' '}
              <code>penstock api-key create</code>.
            </p>
          </form>
        </div>
      </main>
    </div>
  )
}

function problemOf(error: unknown): string {
  if (error instanceof ApiError && error.status === 401) return 'This key is not valid. It may have been revoked.'
  return error instanceof Error ? error.message : String(error)
}
