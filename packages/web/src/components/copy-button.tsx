import { useEffect, useState } from 'preact/hooks'

interface CopyButtonProps {
  readonly text: string
  /** The name if it is not `Copy`, for example `Copy cicd.pipeline.name`. */
  readonly label?: string
  /** Classes; `btn` by default. */
  readonly class?: string
  /** Shows an icon instead of the word. */
  readonly isIcon?: boolean
}

type Outcome = 'copied' | 'failed'

/** Copies a text to the clipboard and says so. */
export function CopyButton({ text, label, class: className = 'btn', isIcon = false }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<Outcome>()
  useEffect(() => {
    if (outcome === undefined) return
    const timer = setTimeout(() => setOutcome(undefined), 2000)
    return () => clearTimeout(timer)
  }, [outcome])
  const copy = () => {
    writeClipboard(text).then(
      () => setOutcome('copied'),
      () => setOutcome('failed'),
    )
  }
  const word = outcome === undefined ? (label ?? 'Copy') : outcome === 'copied' ? 'Copied' : 'Not copied'
  return (
    <>
      <button
        class={className}
        type="button"
        aria-label={isIcon ? (label ?? 'Copy') : undefined}
        title={isIcon ? word : undefined}
        onClick={copy}
      >
        {isIcon ? <CopyIcon isDone={outcome === 'copied'} /> : word}
      </button>
      <span class="vh" role="status">
        {outcome === undefined ? '' : word}
      </span>
    </>
  )
}

function CopyIcon({ isDone }: { readonly isDone: boolean }) {
  return (
    <svg
      width="14"
      height="14"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.4"
      aria-hidden="true"
    >
      {isDone ? <path d="m3 8.5 3.2 3.2L13 4.8" /> : <path d="M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3" />}
    </svg>
  )
}

/** Writes to the clipboard. Pages served without TLS have no clipboard, so a selection is copied instead. */
async function writeClipboard(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'vh'
  // A modal dialog makes the rest of the page inert.
  const host = document.querySelector('dialog[open]') ?? document.body
  host.append(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  if (!isCopied) throw new Error('the browser refused')
}
