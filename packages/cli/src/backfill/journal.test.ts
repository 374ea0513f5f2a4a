import { readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { signalNames } from '@penstock/otlp'
import { describe, expect, test } from 'vitest'
import { temporaryDirectory } from '../../../../test/cli/temporary-directory.ts'
import { UsageError } from '../process/environment.ts'
import { Journal } from './journal.ts'

const subject = { from: 'https://forge.example/api/v4', project: '17', endpoint: 'https://otlp.example' }
const header =
  '{"format":"penstock backfill 1","from":"https://forge.example/api/v4","project":"17","endpoint":"https://otlp.example"}\n'

test('the next run reads the accepted pipelines', async () => {
  await using directory = await temporaryDirectory()
  const path = join(directory.path, 'state')
  const first = Journal.open(path, subject)
  expect(first.missing('31', signalNames)).toEqual(['traces', 'metrics', 'logs'])
  first.learn('31', [{ id: '32', projectId: '17', bridgeId: '380' }])
  first.accept('31', 'traces')
  first.accept('9007199254740993', 'logs')
  first.close()

  const second = Journal.open(path, subject)
  expect(second.missing('31', signalNames)).toEqual(['metrics', 'logs'])
  expect(second.missing('31', ['traces'])).toEqual([])
  expect(second.missing('9007199254740993', signalNames)).toEqual(['traces', 'metrics'])
  expect(second.missing('9007199254740992', signalNames)).toEqual(signalNames)
  second.learn('31', [{ id: '32', projectId: '17', bridgeId: '380' }])
  second.close()
  expect(await readFile(path, 'utf8')).toBe(
    `${header}{"id":"31","downstream":[{"id":"32","projectId":"17","bridgeId":"380"}]}
{"id":"31","signal":"traces"}
{"id":"9007199254740993","signal":"logs"}
`,
  )
})

test('a journal that was cut off at any byte keeps its complete lines and continues after them', async () => {
  await using directory = await temporaryDirectory()
  const path = join(directory.path, 'state')
  const lines = [header, '{"id":"1","signal":"traces"}\n', '{"id":"2","signal":"traces"}\n']
  const whole = lines.join('')
  for (let length = 0; length <= whole.length; length++) {
    await writeFile(path, whole.slice(0, length))
    const journal = Journal.open(path, subject)
    const kept = whole.slice(0, length).split('\n').length - 1
    expect(['1', '2'].filter((id) => journal.missing(id, ['traces']).length === 0)).toHaveLength(Math.max(kept - 1, 0))
    journal.accept('3', 'traces')
    journal.close()
    const expected = [...lines.slice(0, Math.max(kept, 1)), '{"id":"3","signal":"traces"}\n']
    expect(await readFile(path, 'utf8')).toBe(expected.join(''))
  }
})

describe('refuses a file with another format', () => {
  test.each([
    { content: 'anything\n', complaint: 'is not a state file of penstock backfill' },
    { content: 'anything', complaint: 'is not a state file of penstock backfill' },
    { content: '{"format":"penstock cumulative metrics 1"}\n', complaint: 'is not a state file of penstock backfill' },
    {
      content: header.replace('forge.example', 'other.example'),
      complaint:
        'belongs to another backfill: its from is https://other.example/api/v4, not https://forge.example/api/v4',
    },
    { content: header.replace('"17"', '"18"'), complaint: 'belongs to another backfill: its project is 18, not 17' },
    {
      content: header.replace('otlp.example', 'staging.example'),
      complaint: 'belongs to another backfill: its endpoint is https://staging.example, not https://otlp.example',
    },
  ])('$content', async ({ content, complaint }) => {
    await using directory = await temporaryDirectory()
    const path = await directory.file('state', content)
    expect(() => Journal.open(path, subject)).toThrow(new UsageError(`${path} ${complaint}`))
    expect(await readFile(path, 'utf8')).toBe(content)
  })

  test('a device', () => {
    const message = '/dev/zero is not a state file of penstock backfill'
    expect(() => Journal.open('/dev/zero', subject)).toThrow(new UsageError(message))
  })

  test('a directory', async () => {
    await using directory = await temporaryDirectory()
    const message = `${directory.path} is not a state file of penstock backfill`
    expect(() => Journal.open(directory.path, subject)).toThrow(new UsageError(message))
  })

  test('a file in a missing directory', async () => {
    await using directory = await temporaryDirectory()
    const path = join(directory.path, 'mistyped', 'state')
    expect(() => Journal.open(path, subject)).toThrow(new UsageError(`cannot use ${path}: no such file or directory`))
  })
})

test('an open file is refused under each of its names, and can be opened after it is closed or was refused', async () => {
  await using directory = await temporaryDirectory()
  const path = join(directory.path, 'state')
  const alias = join(directory.path, 'alias')
  await symlink(path, alias)
  const first = Journal.open(path, subject)
  for (const name of [path, alias]) {
    const message = `another penstock backfill (process ${process.pid}) is using ${name}: wait for its end or stop it, then run the same command again`
    expect(() => Journal.open(name, subject)).toThrow(new UsageError(message))
  }
  first.close()
  expect(() => Journal.open(path, { ...subject, project: '18' })).toThrow('belongs to another backfill')
  Journal.open(alias, subject).close()
})
