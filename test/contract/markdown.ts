export const code = (text: string): string => `\`${text}\``

/** Returns a table in Markdown. */
export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const cell = (text: string | number) => String(text).replaceAll('|', '\\|')
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n')
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)
