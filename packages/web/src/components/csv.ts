/**
 * Returns rows as CSV with a line of headers. Values that a spreadsheet would read as a formula get an apostrophe before
 * them, because names come from telemetry.
 */
export function csvText(
  headers: readonly string[],
  rows: readonly (readonly (string | number | null | undefined)[])[],
): string {
  return [headers, ...rows].map((row) => `${row.map(csvValue).join(',')}\r\n`).join('')
}

function csvValue(value: string | number | null | undefined): string {
  if (value == null) return ''
  if (typeof value === 'number') return String(value)
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Lets the browser save a text as a file. */
export function saveText(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}
