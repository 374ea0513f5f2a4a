import { expect } from 'vitest'
import { temporaryDirectory } from '../cli/temporary-directory.ts'
import { runShell, shellBlocks, testWithCurl } from '../page-commands.ts'
import { CoreProcess, ROOT_TOKEN } from './core-process.ts'

/** The pages of areas, with the number of JSON answers that their commands print. */
const pages: Readonly<Record<string, number>> = {
  'docs/access-requests.md': 7,
  'docs/context-commits.md': 8,
}

testWithCurl('the commands on the pages of areas work as documented, in a new core', async () => {
  const [tour = ''] = shellBlocks('README.md', '## A tour of the core', '### The sample workspace')
  const functions = tour.split('\n').filter((line) => /^\w+\(\) \{/.test(line))
  await using directory = await temporaryDirectory()
  await using core = await CoreProcess.start(`${directory.path}/data`)
  for (const [page, count] of Object.entries(pages)) {
    const script = [...functions, ...shellBlocks(page)].join('\n')
    const local = script.replaceAll('http://127.0.0.1:8080', new URL(core.url).origin)
    const { exitCode, stdout } = await runShell(local, { PRIVATE_TOKEN: ROOT_TOKEN }, directory.path)
    const answers = stdout.split('\n').filter((line) => /^[[{]/.test(line))
    const refusals = answers.filter((answer) => /^\{"(message|error)"/.test(answer))
    expect([page, exitCode, refusals, answers.length]).toEqual([page, 0, [], count])
  }
})
