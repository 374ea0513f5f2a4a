import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { areas, callPattern, parameterMarks } from '@penstock/rest'
import { expect, test } from 'vitest'
import type { RestRoute } from '../../../packages/rest/src/routing/route.ts'

interface ClientParameters {
  /** The clients that can send each parameter, by method and path with `:` for arguments. */
  readonly endpoints: Readonly<Record<string, Readonly<Record<string, string>>>>
}

const collected = join(import.meta.dirname, '../../interop/parameters/client-parameters.json')
const { endpoints }: ClientParameters = JSON.parse(readFileSync(collected, 'utf8'))

const routes = areas.flatMap((area) => area.routes)
const callOf = ({ method, path }: RestRoute) => `${method} ${path}`
const sentTo = (row: RestRoute) => Object.keys(endpoints[callPattern(row)] ?? {})
const reasonsOf = ({ parameters: { noEffect, refused } = {} }: RestRoute) => Object.keys({ ...noEffect, ...refused })

test('every parameter that a client can send to a route has exactly one mark', () => {
  const wrong = routes.flatMap((row) =>
    sentTo(row).flatMap((name) => {
      const marks = parameterMarks(row, name).map(({ mark }) => mark)
      return marks.length === 1 ? [] : [`${callOf(row)} ${name}: ${marks.join(' and ') || 'no mark'}`]
    }),
  )
  expect(wrong).toEqual([])
})

test('every reason is for a parameter that a client can send to a route with that reason', () => {
  const sent = new Set(routes.flatMap(sentTo))
  // Some clients send any members of an object, such as `not`.
  const isSent = (name: string) =>
    sent.has(name) || sent.has(name.replace(/\[.*/, '')) || [...sent].some((each) => each.startsWith(`${name}[`))
  const leftOver = routes.flatMap((row) =>
    reasonsOf(row)
      .filter((name) => !isSent(name))
      .map((name) => `${callOf(row)} ${name}`),
  )
  expect(leftOver).toEqual([])
})

test('each parameter that is declared as stored is a member of the answer', () => {
  const wrong = routes.flatMap((row) => {
    const members = (row.shape?.schema as { readonly shape?: object } | undefined)?.shape ?? {}
    return (row.parameters?.stored ?? [])
      .filter((name) => !Object.hasOwn(members, name.replace(/\[.*/, '')))
      .map((name) => `${callOf(row)} ${name}`)
  })
  expect(wrong).toEqual([])
})

test('each parameter that is declared as stored is an input of the operation', () => {
  const wrong = routes.flatMap((row) =>
    (row.parameters?.stored ?? [])
      .filter((name) => parameterMarks(row, name).length !== 1)
      .map((name) => `${callOf(row)} ${name}`),
  )
  expect(wrong).toEqual([])
})
