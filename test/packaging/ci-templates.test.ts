import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { ciVariables, type JobFacts } from '../cli/ci-variables.ts'
import { describeWithPrograms } from '../collector/program-suite.ts'
import { penstock } from '../command-line.ts'
import { bodiesOf } from '../fixtures.ts'
import { shellBlocks } from '../page-commands.ts'

const packaging = join(import.meta.dirname, '../../packaging')
const actionDirectory = join(packaging, 'github-action')
const actionFile = join(actionDirectory, 'action.yml')
const componentFile = join(packaging, 'gitlab-component/templates/trace-context.yml')

const builder = createRequire(import.meta.url).resolve('@penstock/toolchain/build-linters.mjs')
const linters = JSON.parse(execFileSync(process.execPath, [builder, '--print-path'], { encoding: 'utf8' })) as Readonly<
  Record<'actionlint' | 'checkJsonschema' | 'pythonIsComplete', string>
>
const neededLinters = [
  { name: 'actionlint', script: 'linters', isBuilt: existsSync(linters.actionlint) },
  { name: 'check-jsonschema', script: 'linters', isBuilt: existsSync(linters.pythonIsComplete) },
]

/** Returns whether a file matches a schema of check-jsonschema, and what is wrong with it. */
function matchSchema(schema: 'github-actions' | 'gitlab-ci', file: string): { ok: boolean; said: string } {
  const args = ['--builtin-schema', `vendor.${schema}`, file]
  const { status, stdout } = spawnSync(linters.checkJsonschema, args, { encoding: 'utf8' })
  return { ok: status === 0, said: stdout }
}

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'penstock-templates-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return directory
}

/** Returns the lines `NAME=value` of a text. */
const readLines = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )

/** Returns the entries of `OTEL_RESOURCE_ATTRIBUTES`. */
const attributesIn = (list = ''): Record<string, string> => readLines(list.replaceAll(',', '\n'))

async function commandIn(env: Record<string, string>, flags: readonly string[]): Promise<Record<string, string>> {
  const { exitCode, stdout, stderr } = await penstock(['trace-context', '--format', 'json', ...flags], { env })
  expect(exitCode, stderr).toBe(0)
  return JSON.parse(stdout).environment
}

describe('the action for GitHub', () => {
  interface Step {
    readonly shell: string
    readonly run: string
    readonly env: Readonly<Record<string, string>>
  }
  const action = parse(readFileSync(actionFile, 'utf8')) as { readonly runs: { readonly steps: readonly Step[] } }

  /** Runs the step as a runner does, and returns what it wrote. */
  function runStep(env: Record<string, string>, inputs: Readonly<Record<string, string>>) {
    const directory = temporaryDirectory()
    const files = { GITHUB_ENV: join(directory, 'env'), GITHUB_OUTPUT: join(directory, 'output') }
    for (const file of Object.values(files)) writeFileSync(file, '')
    const expressions: Readonly<Record<string, string>> = {
      'github.action_path': actionDirectory,
      ...Object.fromEntries(Object.entries(inputs).map(([name, value]) => [`inputs.${name}`, value])),
    }
    const [step] = action.runs.steps
    const stepEnv = Object.entries(step!.env).map(([name, value]) => [
      name,
      value.replaceAll(/\$\{\{ (\S+) \}\}/g, (_, expression: string) => expressions[expression] ?? ''),
    ])
    const run = spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', step!.run], {
      env: { PATH: process.env.PATH, ...files, ...env, ...Object.fromEntries(stepEnv) },
      encoding: 'utf8',
    })
    return {
      status: run.status,
      said: run.stdout + run.stderr,
      set: readLines(readFileSync(files.GITHUB_ENV, 'utf8')),
      outputs: readLines(readFileSync(files.GITHUB_OUTPUT, 'utf8')),
    }
  }

  const push = {
    GITHUB_RUN_ID: '18400000101',
    GITHUB_RUN_ATTEMPT: '1',
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_REPOSITORY: 'ferrous-labs/anvil',
    GITHUB_WORKFLOW: 'CI',
    GITHUB_EVENT_NAME: 'push',
    GITHUB_REF_NAME: 'main',
    GITHUB_SHA: '70e3f630d6c993cfe4c6eee271c920d95bed1464',
  }

  test.each([
    ['a push', push, { 'job-id': '52100000102' }, []],
    ['a second attempt', { ...push, GITHUB_RUN_ATTEMPT: '2' }, { 'job-id': '52100000222' }, []],
    ['an unknown job', push, {}, []],
    ['a server with a port', { ...push, GITHUB_SERVER_URL: 'https://Git.Example.com:8443/' }, { 'job-id': '7' }, []],
    ['the default port', { ...push, GITHUB_SERVER_URL: 'http://git.example.com:80' }, { 'job-id': '7' }, []],
    [
      'a pull request, and names of all scripts',
      {
        ...push,
        GITHUB_EVENT_NAME: 'pull_request',
        GITHUB_HEAD_REF: 'ä/🦆',
        GITHUB_WORKFLOW: `it's "$(exit 9)" %s\\n,=;`,
      },
      { 'job-id': '7' },
      [],
    ],
    ['an instance', push, { 'job-id': '7', 'instance-id': 'ci.example' }, ['--instance-id', 'ci.example']],
    ['a name that is too long', { ...push, GITHUB_WORKFLOW: 'x'.repeat(256) }, { 'job-id': '7' }, []],
  ])('sets the variables of the command: %s', async (_, env, inputs: Record<string, string>, flags) => {
    const { status, said, set, outputs } = runStep(env, inputs)
    expect(status, said).toBe(0)
    const jobFlags = inputs['job-id'] === undefined ? [] : ['--job-id', inputs['job-id']]
    const expected = await commandIn(env, ['--forge', 'github', ...jobFlags, ...flags])
    expect(set.TRACEPARENT).toBe(expected.TRACEPARENT)
    expect(outputs).toEqual({ traceparent: expected.TRACEPARENT, 'trace-id': expected.TRACEPARENT?.split('-')[1] })
    expect(said.includes('the id of the job is unknown')).toBe(inputs['job-id'] === undefined)
    const attributes = attributesIn(set.OTEL_RESOURCE_ATTRIBUTES)
    expect(attributesIn(expected.OTEL_RESOURCE_ATTRIBUTES)).toMatchObject(attributes)
    expect(attributes).toHaveProperty(['vcs.repository.url.full'])
  })

  test('keeps attributes that are set, and names missing variables', () => {
    const kept = runStep({ ...push, OTEL_RESOURCE_ATTRIBUTES: 'team=smiths' }, {})
    expect(kept.set.OTEL_RESOURCE_ATTRIBUTES).toMatch(/^team=smiths,cicd\.pipeline\.name=CI,/)
    const { status, said } = runStep({ GITHUB_RUN_ID: '7' }, {})
    expect(status).toBe(2)
    expect(said).toContain('::error::not set: GITHUB_REPOSITORY GITHUB_SERVER_URL')
  })

  describeWithPrograms('for linters', neededLinters, () => {
    test('matches the schema of actions', () => {
      expect(matchSchema('github-actions', actionFile)).toMatchObject({ ok: true })
      const other = join(temporaryDirectory(), 'action.yml')
      writeFileSync(other, readFileSync(actionFile, 'utf8').replace('using: composite', 'using: composed'))
      expect(matchSchema('github-actions', other).said).toContain('composed')
    })

    /** Returns what actionlint says about a workflow that gives an input to the action. */
    function lint(input: string): string {
      const directory = temporaryDirectory()
      mkdirSync(join(directory, '.git'))
      mkdirSync(join(directory, '.github/workflows'), { recursive: true })
      cpSync(actionDirectory, join(directory, 'packaging/github-action'), { recursive: true })
      const workflow = `name: CI
on: push
jobs:
  test:
    runs-on: ubuntu-24.04
    steps:
      - id: trace
        uses: ./packaging/github-action
        with:
          ${input}: 7
      - run: echo "$TRACEPARENT $TRACE_ID"
        env:
          TRACE_ID: \${{ steps.trace.outputs.trace-id }}
`
      writeFileSync(join(directory, '.github/workflows/ci.yml'), workflow)
      return spawnSync(linters.actionlint, ['-no-color'], { cwd: directory, encoding: 'utf8' }).stdout
    }

    test('actionlint accepts it, and refuses an input that it does not have', () => {
      expect(lint('job-id')).toBe('')
      expect(lint('job')).toContain('input "job" is not defined')
    })
  })
})

describe('the component for GitLab', () => {
  const [header, body] = parseAllDocuments(readFileSync(componentFile, 'utf8')).map((document) => document.toJS())
  const inputs = header.spec.inputs as Readonly<Record<string, { readonly default: string; readonly regex?: string }>>

  /** Returns the template with the values of its inputs, as GitLab includes it. */
  function include(given: Readonly<Record<string, string>> = {}): Record<string, { before_script: string[] }> {
    const text = JSON.stringify(body).replaceAll(/\$\[\[ inputs\.(\S+) \]\]/g, (_, name: string) => {
      expect(inputs).toHaveProperty([name])
      return given[name] ?? inputs[name]!.default
    })
    return JSON.parse(text)
  }

  test('has a hidden job only, which does not run by itself', () => {
    expect(Object.keys(header)).toEqual(['spec'])
    expect(Object.keys(include())).toEqual(['.penstock-trace-context'])
    expect(Object.keys(include({ job: '.trace' }))).toEqual(['.trace'])
    expect(inputs.job!.default).toMatch(new RegExp(inputs.job!.regex!.slice(1, -1)))
  })

  describeWithPrograms('for linters', neededLinters, () => {
    test('matches the schema of GitLab', () => {
      const file = join(temporaryDirectory(), '.gitlab-ci.yml')
      // Hidden jobs may have any form.
      const job = { ...include()['.penstock-trace-context'], script: ['true'] }
      writeFileSync(file, JSON.stringify({ job }))
      expect(matchSchema('gitlab-ci', file)).toMatchObject({ ok: true })
      writeFileSync(file, JSON.stringify({ job: { ...job, before_script: 7 } }))
      expect(matchSchema('gitlab-ci', file)).toMatchObject({ ok: false })
    })
  })

  test('its script is the recipe of the page', () => {
    const [recipe = ''] = shellBlocks('docs/guides/jobs-join-their-trace.md')
    const expected = recipe
      .replace(/^#.*\n/, '')
      .replace('\ninstance=$host\n', '\ninstance=$PENSTOCK_INSTANCE_ID\ninstance=$'.concat('{instance:-$host}\n'))
    expect(include()['.penstock-trace-context']!.before_script).toEqual([
      expected.endsWith('\n') ? expected : `${expected}\n`,
    ])
  })

  test.each([
    ['no instance', {}, []],
    ['an instance', { 'instance-id': 'ci.example' }, ['--instance-id', 'ci.example']],
  ])('sets the variables of the command: %s', async (_, given: Record<string, string>, flags) => {
    const hook = bodiesOf('push-pipeline-five-jobs-three-stages')[0] as JobFacts & {
      readonly builds: readonly object[]
    }
    const env = ciVariables(hook, hook.builds[2] as Parameters<typeof ciVariables>[1])
    const job = include(given)['.penstock-trace-context'] as unknown as {
      readonly before_script: readonly string[]
      readonly variables: Record<string, string>
    }
    const script = `${job.before_script.join('\n')}\nprintf '%s\\n' "TRACEPARENT=$TRACEPARENT" "attributes=$OTEL_RESOURCE_ATTRIBUTES"`
    const run = spawnSync('bash', ['-eo', 'pipefail', '-c', script], {
      env: { PATH: process.env.PATH, ...job.variables, ...env },
      encoding: 'utf8',
    })
    expect(run.status, run.stderr).toBe(0)
    const printed = readLines(run.stdout)
    const expected = await commandIn(env, flags)
    expect(printed.TRACEPARENT).toBe(expected.TRACEPARENT)
    expect(attributesIn(expected.OTEL_RESOURCE_ATTRIBUTES)).toMatchObject(attributesIn(printed.attributes))
  })
})
