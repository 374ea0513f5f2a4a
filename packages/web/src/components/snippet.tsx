import { useId } from 'preact/hooks'
import { CopyButton } from './copy-button.tsx'

interface SnippetProps {
  readonly label: string
  readonly text: string
}

/** Lines to copy into a shell or a file. */
export function Snippet({ label, text }: SnippetProps) {
  const id = useId()
  return (
    <figure class="snippet" aria-labelledby={id}>
      <figcaption>
        <span id={id}>{label}</span>
        <CopyButton class="btn small square" text={text} label={`To the clipboard: ${label}`} isIcon />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll, so the keyboard has to reach them */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </figure>
  )
}
