import { csvText, saveText } from './csv.ts'

interface CsvButtonProps {
  /** The name of the table, which becomes that of the file. */
  readonly table: string
  readonly headers: readonly string[]
  readonly rows: () => readonly (readonly (string | number | null | undefined)[])[]
}

/** Saves the numbers of a table as a CSV file. */
export function CsvButton({ table, headers, rows }: CsvButtonProps) {
  const save = () => saveText(`${table.toLowerCase().replaceAll(' ', '-')}.csv`, 'text/csv', csvText(headers, rows()))
  return (
    <button class="btn quiet small" type="button" onClick={save}>
      Download CSV<span class="vh"> of {table}</span>
    </button>
  )
}
