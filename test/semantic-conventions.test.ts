import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as registry from '@opentelemetry/semantic-conventions/incubating'
import { describe, expect, test } from 'vitest'
import { fixtures } from './fixtures.ts'

/** Compares the names of telemetry that are emitted or read with the registry of the semantic conventions. */

const registered = new Set<string>(Object.values(registry).filter((value) => typeof value === 'string'))

/** Names in the namespaces of the registry that it does not have, and why they are emitted. */
const ownNames: Readonly<Record<string, string>> = {
  'cicd.pipeline.task.run.state': "the product's interface lists it; the registry has the state of runs only",
  'cicd.pipeline.run.count': "the product's interface lists it; the registry counts only runs that are active",
  'cicd.pipeline.task.total': "the product's interface lists it; the registry has no metric of tasks",
  'cicd.pipeline.task.duration': "the product's interface lists it; the registry has no metric of tasks",
}

/** Texts in source that look like such names, and what they are. */
const otherTexts: Readonly<Record<string, string>> = {
  'deployment.created': 'an event of the core',
  'deployment.updated': 'an event of the core',
}

const inNamespace = /^(?:cicd|vcs|deployment|test)\./

/** Returns the names of attributes, metrics and events in a golden file. */
const namesIn = (text: string): string[] =>
  [...text.matchAll(/"(?:key|name|eventName)": ?"([^"]+)"/g)].map(([, name = '']) => name)

/** Returns the literals in a source file that look like names. */
const literalsIn = (text: string): string[] =>
  [...text.matchAll(/['"`]((?:cicd|vcs|deployment|test)\.[a-z_.]*[a-z])['"`]/g)].map(([, name = '']) => name)

const packages = join(import.meta.dirname, '../packages')
const sourceFiles = readdirSync(packages).flatMap((name) =>
  readdirSync(join(packages, name), { recursive: true, encoding: 'utf8' })
    .filter((file) => /^src\/.+\.tsx?$/.test(file) && !/\.(?:test|case|harness)\.tsx?$/.test(file))
    .map((file) => join(packages, name, file)),
)

const golden = join(fixtures, 'golden')
const emitted = new Set(
  readdirSync(golden)
    .flatMap((file) => namesIn(readFileSync(join(golden, file), 'utf8')))
    .filter((name) => inNamespace.test(name)),
)
const literal = new Set(sourceFiles.flatMap((file) => literalsIn(readFileSync(file, 'utf8'))))

describe('names in the namespaces of the registry', () => {
  test('those that are emitted are in the registry, or in the list of our own', () => {
    expect(emitted.size).toBeGreaterThan(25)
    expect([...emitted].filter((name) => !registered.has(name) && !(name in ownNames)).sort()).toEqual([])
  })

  test('so are those in the source', () => {
    const known = (name: string) => registered.has(name) || name in ownNames || name in otherTexts
    expect([...literal].filter((name) => !known(name)).sort()).toEqual([])
  })

  test('the list has only names that are used, and that the registry lacks', () => {
    expect(Object.keys(ownNames).filter((name) => !emitted.has(name))).toEqual([])
    expect(Object.keys(ownNames).filter((name) => registered.has(name))).toEqual([])
    expect(Object.keys(otherTexts).filter((name) => !literal.has(name))).toEqual([])
  })
})
