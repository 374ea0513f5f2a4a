interface RowActionProps {
  /** The visible word, such as `Revoke`. */
  readonly word: string
  /** The name of the row's token or key, which completes the accessible name. */
  readonly name: string
  readonly isDanger?: boolean
  readonly onClick: () => void
}

/** A button in a row of a table. */
export function RowAction({ word, name, isDanger = false, onClick }: RowActionProps) {
  return (
    <button
      class={isDanger ? 'btn quiet small danger' : 'btn quiet small'}
      type="button"
      aria-label={`${word} ${name}`}
      onClick={onClick}
    >
      {word}
    </button>
  )
}
