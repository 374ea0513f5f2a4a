const WIDTH = 120

/** Returns JSON that is readable in diffs: values that fit into a line are on one line. */
export function readableJson(value: unknown, indent = ''): string {
  const line = JSON.stringify(value)
  if (typeof value !== 'object' || value === null || indent.length + line.length <= WIDTH) return line
  const inner = `${indent}  `
  if (Array.isArray(value)) {
    return `[\n${value.map((item) => inner + readableJson(item, inner)).join(',\n')}\n${indent}]`
  }
  const entries = Object.entries(value)
  return `{\n${entries.map(([key, item]) => `${inner}${JSON.stringify(key)}: ${readableJson(item, inner)}`).join(',\n')}\n${indent}}`
}
