import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { penstock, Sink } from '../command-line.ts'
import { hookLine } from './hook-line.ts'

test('prints its version', async () => {
  expect(await penstock(['--version'])).toMatchObject({ exitCode: 0, stdout: '0.1.0\n', stderr: '' })
})

test.each(['convert', 'export', 'show'])('%s --help has examples', async (command) => {
  const { exitCode, stdout } = await penstock([command, '--help'])
  expect(exitCode).toBe(0)
  expect(stdout).toContain(`$ penstock ${command}`)
  expect(stdout).toContain('--stage-spans')
})

test('without a command shows help and fails', async () => {
  const { exitCode, stderr } = await penstock([])
  expect(exitCode).toBe(2)
  expect(stderr).toContain('Usage: penstock')
})

test.each([
  { args: ['frobnicate'], complaint: "unknown command 'frobnicate'" },
  { args: ['convert'], complaint: "missing required argument 'file'" },
  { args: ['convert', '--encoding'], complaint: "option '--encoding <encoding>' argument missing" },
])('$args prints one line and exits with 2', async ({ args, complaint }) => {
  expect(await penstock(args)).toMatchObject({ exitCode: 2, stdout: '', stderr: `penstock: ${complaint}\n` })
})

test('an interruption ends it with 130', async () => {
  const interruption = new AbortController()
  const stdin = new Readable({ read() {} })
  stdin.push(`${hookLine(1)}\n`)
  const stdout = new Sink().onWrite(() => interruption.abort())
  expect((await penstock(['convert', '-'], { stdin, stdout, signal: interruption.signal })).exitCode).toBe(130)
})

test('an interruption ends it with 130 while standard input is read to its end', async () => {
  const interruption = new AbortController()
  const stdin = new Readable({ read: () => setImmediate(() => interruption.abort()) })
  stdin.push(`${hookLine(1)}\n`)
  const outcome = await penstock(['convert', '-', '--whole-stream'], { stdin, signal: interruption.signal })
  expect(outcome).toMatchObject({ exitCode: 130, stdout: '' })
  expect(stdin.destroyed).toBe(true)
})
