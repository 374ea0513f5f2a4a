export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/**
 * Returns the samples of a scraped page.
 *
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
 */
export function parsePrometheusText(page: string): Sample[] {
  const lines = page.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return lines.map((line) => {
    const [, name, labels = '', value] = line.match(/^([\w:]+)(?:\{(.*)\})? (\S+)(?: \d+)?$/) ?? []
    if (name === undefined) throw new Error(`not a sample: ${line}`)
    return { name, labels: labelsOf(labels), value: numberOf(value!) }
  })
}

/** Parses a number in the format of Go, which writes infinity as `Inf`. */
export const numberOf = (text: string): number => Number(text.replace('Inf', 'Infinity'))

function labelsOf(text: string): Record<string, string> {
  const pairs = text.matchAll(/([\w:]+)="((?:[^"\\]|\\.)*)"/g)
  return Object.fromEntries([...pairs].map(([, name, value]) => [name, unescaped(value!)]))
}

const unescaped = (text: string): string => text.replace(/\\(.)/g, (_, each) => (each === 'n' ? '\n' : each))
