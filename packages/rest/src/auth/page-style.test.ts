import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { pageStyle } from './page-style.ts'

const console = readFileSync(new URL('../../../web/src/style/tokens.css', import.meta.url), 'utf8')
const tokensOf = (sheet: string) =>
  [...sheet.matchAll(/(--[\w-]+):\s+([^;]*);/g)].map(([, name, value]) => [name, value!.replaceAll(/\s+/g, ' ')])

test('every design token has the value that it has in the console', () => {
  const known = new Map(tokensOf(console) as [string, string][])
  const own = tokensOf(pageStyle.text)
  expect(own.length).toBeGreaterThan(15)
  expect(own).toEqual(own.map(([name]) => [name, known.get(name!)]))
})

test('every design token that a rule uses is there, and no rule loads anything', () => {
  const own = new Set(tokensOf(pageStyle.text).map(([name]) => name))
  const used = [...pageStyle.text.matchAll(/var\((--[\w-]+)\)/g)].map(([, name]) => name)
  expect(used.filter((name) => !own.has(name))).toEqual([])
  expect(pageStyle.text).not.toMatch(/url\(|@import|[<>]\/|!important/)
})
