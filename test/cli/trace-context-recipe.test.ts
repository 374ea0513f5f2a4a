import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { penstock } from '../command-line.ts'
import { bodiesOf, flagsOf } from '../fixtures.ts'
import { shellBlocks } from '../page-commands.ts'
import { ciVariables, type JobFacts } from './ci-variables.ts'

const [hashed = '', native = ''] = shellBlocks('docs/guides/jobs-join-their-trace.md')

/** The recipe of the page. The native variant follows below it. */
const recipes = { hashed, native: `${hashed}\n${native}` } as const

interface PrintedVariables {
  readonly TRACEPARENT: string
  readonly TRACESTATE: string
  readonly OTEL_RESOURCE_ATTRIBUTES: string
  readonly stderr: string
}

/** Returns the variables as a shell has them after the recipe, and what the recipe wrote to standard error. */
function variablesAfter(shell: Shell, recipe: string, env: Record<string, string>): PrintedVariables {
  const script = `${recipe}\nprintf '%s\\n' "\${TRACEPARENT-}" "\${TRACESTATE-}" "$OTEL_RESOURCE_ATTRIBUTES"`
  const [command = '', ...args] = shell.command
  const { status, stdout, stderr, error } = spawnSync(command, [...args, '-euc', script], {
    env: { PATH: shell.path, ...env },
    encoding: 'utf8',
  })
  expect({ error, status, stderr }).toMatchObject({ error: undefined, status: 0 })
  const [TRACEPARENT = '', TRACESTATE = '', OTEL_RESOURCE_ATTRIBUTES = ''] = stdout.split('\n')
  return { TRACEPARENT, TRACESTATE, OTEL_RESOURCE_ATTRIBUTES, stderr }
}

interface Shell {
  readonly command: readonly string[]
  readonly path: string
}

const path = process.env.PATH ?? ''
const isThere = (command: string) => spawnSync(command, ['-c', ':']).status === 0
const busyboxTools = mkdtempSync(join(tmpdir(), 'busybox-'))
afterAll(() => rmSync(busyboxTools, { recursive: true }))

/** The installed shells. BusyBox has only its own tools. */
const shells: Readonly<Record<string, Shell>> = {
  sh: { command: ['sh'], path },
  ...(isThere('dash') && { dash: { command: ['dash'], path } }),
  ...(isThere('bash') && { bash: { command: ['bash', '--posix', '--norc'], path } }),
  ...withBusybox(),
}

function withBusybox(): Record<string, Shell> {
  const busybox = spawnSync('sh', ['-c', 'command -v busybox'], { encoding: 'utf8' }).stdout.trim()
  if (busybox === '') return {}
  for (const tool of ['sh', 'sha256sum', 'cut', 'tr', 'od', 'sed']) symlinkSync(busybox, join(busyboxTools, tool))
  return { busybox: { command: [join(busyboxTools, 'sh')], path: busyboxTools } }
}

/** Returns the variables of a job of the first pipeline in a fixture. */
function jobIn(name: string, at = 0): Record<string, string> {
  const hook = bodiesOf(name)[0] as JobFacts & { readonly builds: readonly Readonly<Record<string, unknown>>[] }
  return ciVariables(hook, hook.builds[at]!)
}

const environments: Readonly<Record<string, Record<string, string>>> = {
  'a push pipeline': jobIn('push-pipeline-five-jobs-three-stages', 2),
  'a merge request': jobIn('e33-merge-request-with-another-target-branch'),
  'an instance on a port, and a child pipeline': jobIn('child-pipeline-of-a-bridge'),
  'a child pipeline that knows its parent alone': jobIn('e45-child-of-a-child-without-root-id'),
  'a pipeline of another project': jobIn('e46-downstream-of-another-project'),
  'names of all scripts': jobIn('e30-emoji-right-to-left-combining-and-four-byte-names'),
  'an id beyond 2^53': jobIn('e48-ids-above-two-to-the-53'),
  'a URL with capitals and the default port': {
    ...jobIn('push-pipeline-five-jobs-three-stages'),
    CI_PROJECT_URL: 'https://CI.Example.com:443/harbour/tide-tables',
  },
  'a URL of plain HTTP': {
    ...jobIn('push-pipeline-five-jobs-three-stages'),
    CI_PROJECT_URL: 'http://ci.example.com:80/harbour/tide-tables',
  },
  'a name that a shell would act on': {
    ...jobIn('push-pipeline-five-jobs-three-stages'),
    CI_JOB_NAME: `it's "$(exit 9)" \`exit 9\` %s\\n,=;-n`,
    OTEL_RESOURCE_ATTRIBUTES: 'team=harbour',
  },
  'a URL with a user and a password': {
    ...jobIn('push-pipeline-five-jobs-three-stages'),
    CI_PROJECT_URL: 'HTTPS://user:p@ss@CI.example.com:443/harbour/tide-tables',
  },
  'a trace state from elsewhere, an empty stage, and each printable character': {
    ...jobIn('push-pipeline-five-jobs-three-stages'),
    TRACESTATE: 'other=1',
    CI_JOB_STAGE: '',
    CI_JOB_NAME: Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at)).join(''),
  },
  'attributes that the variable has already': {
    ...jobIn('push-pipeline-five-jobs-three-stages'),
    OTEL_RESOURCE_ATTRIBUTES: 'vcs.ref.head.name=mine,team=a%20b, cicd.pipeline.run.id =1,,vcs.ref.head=x',
  },
}

const keysOf = (list: string): string[] => list.split(',').map((entry) => entry.slice(0, entry.indexOf('=')))

const inPush = jobIn('push-pipeline-five-jobs-three-stages')
const longest = 255
const malformedLists = ['garbage', 'team=harbour,garbage', 'a=b=c', '=b', ' =b', 'a=%zz', 'a=%4', 'a=%', 'a=b%4g']

describe.each(Object.entries(shells))('the recipe, in %s', (_, shell) => {
  test.each(Object.entries(environments))('%s', async (_name, env) => {
    for (const [idScheme, recipe] of Object.entries(recipes) as [keyof typeof recipes, string][]) {
      const command = await penstock(['trace-context', '--format', 'json', ...flagsOf({ idScheme })], { env })
      const { environment } = JSON.parse(command.stdout)
      const after = variablesAfter(shell, recipe, env)
      expect({ stderr: after.stderr, traceparent: after.TRACEPARENT }).toEqual({
        stderr: '',
        traceparent: environment.TRACEPARENT,
      })
      expect(after.TRACESTATE).toBe('')
      const printed: string[] = environment.OTEL_RESOURCE_ATTRIBUTES.split(',')
      expect(printed).toEqual(expect.arrayContaining(after.OTEL_RESOURCE_ATTRIBUTES.split(',')))
      const keys = keysOf(after.OTEL_RESOURCE_ATTRIBUTES)
      expect(keys).toEqual([...new Set(keys)])
    }
  })

  test('a value with an encoded text of more than 255 characters is left out', () => {
    const env = { ...inPush, CI_COMMIT_REF_NAME: 'r/'.repeat(longest).slice(0, longest), CI_JOB_NAME: 'é'.repeat(43) }
    const { TRACEPARENT, OTEL_RESOURCE_ATTRIBUTES, stderr } = variablesAfter(shell, recipes.hashed, env)
    expect(TRACEPARENT).not.toBe('')
    expect(stderr).toBe('left out, more than 255 characters: cicd.pipeline.task.name\n')
    expect(OTEL_RESOURCE_ATTRIBUTES).toContain(`vcs.ref.head.name=${env.CI_COMMIT_REF_NAME}`)
    expect(keysOf(OTEL_RESOURCE_ATTRIBUTES)).not.toContain('cicd.pipeline.task.name')
  })

  test('an attribute with another key keeps its text', () => {
    const env = { ...inPush, OTEL_RESOURCE_ATTRIBUTES: ` note = it's "a  b" * \\n ,team=x` }
    const { OTEL_RESOURCE_ATTRIBUTES } = variablesAfter(shell, recipes.hashed, env)
    expect(OTEL_RESOURCE_ATTRIBUTES).toMatch(/^note=it's "a {2}b" \* \\n,team=x,cicd\./)
  })

  test.each(malformedLists)('a malformed list is replaced: %s', (list) => {
    const whole = variablesAfter(shell, recipes.hashed, inPush)
    const after = variablesAfter(shell, recipes.hashed, { ...inPush, OTEL_RESOURCE_ATTRIBUTES: list })
    expect(after).toEqual({ ...whole, stderr: 'OTEL_RESOURCE_ATTRIBUTES is malformed and is replaced\n' })
  })

  test('a child without a root has no trace context', () => {
    const { CI_UPSTREAM_PIPELINE_ID: _parent, ...env } = jobIn('e45-child-of-a-child-without-root-id')
    expect(variablesAfter(shell, recipes.hashed, env)).toMatchObject({ TRACEPARENT: '' })
  })
})
