import { expect } from 'vitest'
import { type MatrixRow, methodAndPath } from './http-matrix-row.ts'
import type { MatrixServer } from './http-matrix-server.ts'
import type { Values } from './matrix-area.ts'

/** Sends the request of a row. @param values the things that the row needs, by name */
export function sendRow(
  server: MatrixServer,
  row: MatrixRow,
  values: Values,
  headers: Record<string, string>,
): Promise<Response> {
  const [method, template] = methodAndPath(row).split(' ') as [string, string]
  const filled = (text: string) =>
    text.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? expect.unreachable(name)))
  const path = template.replaceAll(/[:*](\w+)/g, (_, name: string) => {
    const value = row.at?.[name] === undefined ? values[name] : filled(row.at[name])
    return encodeURIComponent(value ?? expect.unreachable(name))
  })
  const member = (_: string, value: unknown) =>
    typeof value === 'string' ? (values[/^\{(\w+)\}$/.exec(value)?.[1] ?? ''] ?? value) : value
  const sent = Object.entries(row.send ?? {}).map(([name, value]) => {
    return [name, typeof value === 'string' ? filled(value) : JSON.parse(JSON.stringify(value, member))] as const
  })
  if (method === 'GET' || method === 'DELETE') {
    const query = new URLSearchParams(sent.flatMap(([name, value]) => queryPairs(name, value)))
    return server.fetch(`${path}${sent.length > 0 ? `?${query}` : ''}`, { method, headers })
  }
  if (row.file !== undefined) {
    const form = new FormData()
    form.append(row.file, new File(['content'], 'map.png'))
    return server.fetch(path, { method, headers, body: form })
  }
  const body = JSON.stringify(Object.fromEntries(sent))
  return server.fetch(path, { method, headers: { ...headers, 'Content-Type': 'application/json' }, body })
}

/** Returns the parameters for a value in a query; a list has one for each item. */
const queryPairs = (name: string, value: unknown): [string, string][] =>
  Array.isArray(value) ? value.map((item) => [`${name}[]`, String(item)]) : [[name, String(value)]]
