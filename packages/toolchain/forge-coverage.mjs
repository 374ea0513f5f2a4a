#!/usr/bin/env node
/*
 * Prints a table of what the fixtures of each forge cover: `node forge-coverage.mjs`, after a build.
 *
 * Payloads are the bodies of a forge, hooks about other events included. Fields are those of the readers' tables, and attributes the keys
 * with a value in some conversion.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { resolveOptions } from '../converter/dist/base/options.js'
import { convert } from '../converter/dist/convert.js'
import { capturedBody, forgeNames, forges, parseLossless, RecordError, readInput } from '../forges/dist/index.js'
import { forgeFieldCounts } from './forge-fields-page.mjs'

const fixtures = new URL('../../fixtures/', import.meta.url)
const options = resolveOptions({ extraAttributes: true })
const naming = { ...options, instanceId: 'ci.example.com', project: 'g/p' }

function bodiesOf(forge) {
  const files = ['pipelines/', 'unnamed/'].flatMap((folder) =>
    readdirSync(new URL(folder, fixtures)).map((name) => [name, new URL(folder + name, fixtures)]),
  )
  return files
    .filter(([name]) => name.startsWith(`${forge}-`))
    .map(([name, file]) => {
      const value = parseLossless(readFileSync(file, 'utf8'))
      const bodies = (Array.isArray(value) ? value : [value]).map((given) => capturedBody(given) ?? given)
      return { name, bodies: bodies.map((body) => (typeof body === 'string' ? parseLossless(body) : body)) }
    })
}

function read(body) {
  try {
    return readInput(body, { receivedAtNs: 1n })
  } catch (error) {
    if (error instanceof RecordError) return undefined
    throw error
  }
}

function keysOf(record) {
  const { traces } = convert(record, record.unnamed === undefined ? options : naming)
  return traces.resources.flatMap(({ resource, scopes }) => [
    ...resource.attributes.map(({ key }) => key),
    ...scopes.flatMap(({ items }) => items.flatMap(({ attributes }) => attributes.map(({ key }) => key))),
  ])
}

console.log('| Forge | Cases | Bodies | Runs | Fields read | Attributes with values |')
console.log('| --- | --- | --- | --- | --- | --- |')
for (const forge of forgeNames.filter((name) => name !== 'gitlab' && forges[name].bodies.length > 0)) {
  const cases = bodiesOf(forge)
  const bodies = cases.flatMap((each) => each.bodies)
  const inputs = bodies.map(read)
  const records = inputs.flatMap((input) => (input?.kind === 'pipeline' ? [input.record] : []))
  const keys = new Set(records.flatMap(keysOf))
  const fields = forgeFieldCounts()[forge] ?? ''
  console.log(`| ${forge} | ${cases.length} | ${bodies.length} | ${records.length} | ${fields} | ${keys.size} |`)
}
