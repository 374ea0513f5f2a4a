import { recordSchema } from '@penstock/forges'
import { expect, test } from 'vitest'
import { penstock } from '../command-line.ts'

test('schema record prints the JSON Schema of a record', async () => {
  const { exitCode, stdout, stderr } = await penstock(['schema', 'record'])
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  expect(JSON.parse(stdout)).toEqual(recordSchema())
})

test('another name is a wrong usage', async () => {
  expect(await penstock(['schema', 'pipeline'])).toMatchObject({ exitCode: 2, stdout: '' })
})

test('convert reads the example of the schema', async () => {
  const [example] = recordSchema().examples as readonly object[]
  const { exitCode, stdout } = await penstock(['convert', '-', '--signals', 'traces'], {
    stdin: `${JSON.stringify(example)}\n`,
  })
  expect(exitCode).toBe(0)
  expect(stdout).toContain('"step: npm test"')
  const without = await penstock(['convert', '-', '--signals', 'traces', '--no-steps'], {
    stdin: `${JSON.stringify(example)}\n`,
  })
  expect(without.stdout).not.toContain('step: npm test')
})
