import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { freePorts } from '../cli/serving.ts'
import { Sink } from '../command-line.ts'
import { caseFile } from '../fixtures.ts'
import { until } from '../gateway/until.ts'
import { codeBlocks } from '../page-commands.ts'
import { npmInstall, type PackedFiles, packFiles } from './installed.ts'
import { readBanner, tourCore, tourGateway } from './tour.ts'

// npm compiles SQLite if it cannot download a prebuilt file, which takes minutes.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 900_000 })

const root = join(import.meta.dirname, '../..')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
const thirdParty = pathToFileURL(join(root, 'packages/toolchain/third-party.mjs')).href
const environment = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' }

let packed: PackedFiles
beforeAll(() => {
  packed = packFiles()
})
afterAll(() => packed[Symbol.dispose]())

const emptyDirectory = () => mkdtempSync(join(tmpdir(), 'penstock-installed-'))

describe('penstock', () => {
  let directory: string
  beforeAll(() => {
    directory = emptyDirectory()
    npmInstall(directory, packed.tarball('penstock'))
  })
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  const npx = (...args: string[]) =>
    spawnSync('npx', ['--no-install', 'penstock', ...args], {
      cwd: directory,
      encoding: 'utf8',
      env: { ...environment, ...freePorts },
    })

  test('serves in an empty directory, takes the tour of the README, and ends by SIGTERM', async () => {
    const child: ChildProcess = spawn(join(directory, 'node_modules/.bin/penstock'), ['serve', '--sample'], {
      cwd: directory,
      env: { ...environment, ...freePorts, PENSTOCK_DRAIN_DELAY_MS: '0' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const [stdout, stderr] = [child.stdout!.pipe(new Sink()), child.stderr!.pipe(new Sink())]
    const banner = await until('it serves', () => stdout.text.includes('Try next:') && stdout.text, 120_000)
    const service = readBanner(banner)
    await tourGateway(service)
    await tourCore(service)
    const consolePage = await (await fetch(service.managementUrl)).text()
    expect(consolePage).toContain('<script')
    expect((await fetch(`${service.coreUrl}/api/v4/openapi.json`)).status).toBe(200)
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
    expect(stderr.text).not.toContain('Error')

    const doctor = npx('doctor')
    expect(doctor.stdout).toContain(`ok    penstock ${version}, installed as a package\n`)
    expect(doctor.stdout).toMatch(/^ok {4}Node \d+\.\d+\.\d+: CI runs tests with this version$/m)
    expect(doctor.stdout).toMatch(/^ok {4}data\/core\.db is up to date: its schema is \w+$/m)
    expect(doctor.stdout).toMatch(/^ok {4}data\/gateway\.db is up to date: its schema is \w+$/m)
    expect(doctor.status).toBe(0)
  })

  test('converts and shows pipelines', () => {
    expect(npx('show', '--sample').stdout).toContain('✓ RUN tide-tables #31')
    const converted = npx('convert', caseFile('push-pipeline-five-jobs-three-stages'))
    expect(JSON.parse(converted.stdout.split('\n')[0]!)).toHaveProperty('resourceSpans')
    expect(npx('--version').stdout.trim()).toBe(version)
  })

  test('names no directory of this machine, has no source maps, and the licences of what is bundled', () => {
    const installed = join(directory, 'node_modules/penstock')
    const files = readdirSync(installed, { recursive: true, encoding: 'utf8' })
    expect(files.filter((file) => file.endsWith('.map'))).toEqual([])
    const texts = files
      .filter((file) => /\.(?:js|mjs|json|md|txt)$/.test(file))
      .map((file) => readFileSync(join(installed, file), 'utf8'))
    expect(texts.filter((text) => text.includes(root))).toEqual([])
    const licences = readFileSync(join(installed, 'THIRD-PARTY-LICENCES.txt'), 'utf8')
    for (const name of ['koa', 'graphql', 'kysely', 'undici', 'preact'])
      expect(licences).toMatch(new RegExp(`^${name} \\d`, 'm'))
  })
})

test('the checksums and the bill of materials are those of the packed files', () => {
  const sums = spawnSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], {
    cwd: packed.directory,
    encoding: 'utf8',
  })
  expect(sums.status).toBe(0)
  expect(sums.stdout.trim().split('\n')).toHaveLength(readdirSync(packed.directory).length - 1)
  const bill = JSON.parse(readFileSync(join(packed.directory, 'sbom.cdx.json'), 'utf8'))
  expect(bill).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name: 'penstock', version } } })
  const names = bill.components.map(({ name }: { name: string }) => name)
  expect(names).toEqual(
    expect.arrayContaining(['argon2', 'better-sqlite3', '@asciidoctor/core', 'koa', 'preact', 'bindings']),
  )
  expect(names).not.toContain('vitest')
  const refs = new Set(bill.components.map((component: Record<string, string>) => component['bom-ref']))
  expect(
    bill.dependencies.flatMap((row: { dependsOn: string[] }) => row.dependsOn).filter((ref: string) => !refs.has(ref)),
  ).toEqual([])
})

test.each([
  [{ license: 'MIT' }, 'MIT'],
  [{ license: '(GPL-3.0 OR Apache-2.0)' }, '(GPL-3.0 OR Apache-2.0)'],
  [{ licenses: [{ type: 'MIT' }] }, 'MIT'],
  [{ license: 'GPL-3.0' }, undefined],
  [{ license: '(MIT OR GPL-3.0) AND ISC' }, '(MIT OR GPL-3.0) AND ISC'],
  [{ license: 'MIT AND GPL-3.0' }, undefined],
  [{ license: '(MIT OR Apache-2.0) AND GPL-3.0' }, undefined],
  [{ license: 'GPL-3.0 OR (MIT AND (ISC AND GPL-3.0))' }, undefined],
  [{}, undefined],
])('a package without an allowed licence is refused: %j', (manifest, licence) => {
  const directory = emptyDirectory()
  onTestFinished(() => rmSync(directory, { recursive: true }))
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ name: 'one', version: '1.0.0', ...manifest }))
  const script = `import { thirdPartyPackage } from ${JSON.stringify(thirdParty)}
    console.log(thirdPartyPackage(${JSON.stringify(directory)}).licence)`
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
  })
  expect(status).toBe(licence === undefined ? 1 : 0)
  if (licence === undefined) expect(stderr).toMatch(/one@1\.0\.0 has the licence .*, which is not on the list/)
  else expect(stdout.trim()).toBe(licence)
})

test('the same build gives the same files', () => {
  using again = packFiles()
  const sums = (directory: string) => readFileSync(join(directory, 'SHA256SUMS'), 'utf8')
  expect(sums(again.directory)).toBe(sums(packed.directory))
})

describe('libraries', () => {
  let directory: string
  beforeAll(() => {
    directory = emptyDirectory()
    writeFileSync(join(directory, 'package.json'), '{"type":"module","private":true}')
    const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const tools = ['typescript', '@types/node'].map((name) => `${name}@${devDependencies[name]}`)
    const ours = ['penstock-json', 'penstock-otlp', 'penstock-forges', 'penstock-converter']
    npmInstall(directory, ...ours.map(packed.tarball), ...tools)
    writeFileSync(join(directory, 'hook.json'), readFileSync(caseFile('push-pipeline-five-jobs-three-stages')))
  })
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  test.each([
    ['converter', /^\{"resourceSpans":\[.*\}$/],
    ['forges', /^(?:[^\n]+: \w+(?:\n|$)){5}$/],
    ['otlp', /^hello took 250000000 ns\n\d+ bytes of protobuf\nrefused: .*resourceSpans/],
    ['json', /^the text is nested deeper than 100$/],
  ])('the program in the README of @penstock/%s is type-checked strictly and runs', (name, output) => {
    const readme = readFileSync(join(directory, 'node_modules/@penstock', name, 'README.md'), 'utf8')
    const [program, ...more] = codeBlocks(`packaging/npm/${name}.md`, 'ts')
    expect(more).toEqual([])
    expect(readme).toContain(program)
    const source = join(directory, name)
    mkdirSync(source)
    writeFileSync(join(source, 'program.ts'), program!)
    const options = [
      '--strict',
      '--module',
      'nodenext',
      '--target',
      'es2023',
      '--skipLibCheck',
      'false',
      '--types',
      'node',
    ]
    const compiled = spawnSync(
      'npx',
      ['--no-install', 'tsc', ...options, '--outDir', source, join(source, 'program.ts')],
      { cwd: directory, encoding: 'utf8' },
    )
    expect({ status: compiled.status, stdout: compiled.stdout }).toEqual({ status: 0, stdout: '' })
    expect(
      execFileSync(process.execPath, [join(source, 'program.js')], { cwd: directory, encoding: 'utf8' }).trim(),
    ).toMatch(output)
  })
})
