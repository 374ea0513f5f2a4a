import { Writable } from 'node:stream'
import { Command } from 'commander'
import { exportCommand } from '../commands/export.ts'
import { type Environment, exitCodes } from '../environment.ts'
import { sampleFiles } from '../samples.ts'
import { counted } from '../wording.ts'

/** Sends the sample pipelines to an OTLP endpoint, and says what became of them. */
export async function exportSamples(endpoint: string, environment: Environment): Promise<string> {
  const command = new Command('export')
  exportCommand.define(command)
  const files = sampleFiles(environment)
  command.action(() => {})
  await command.parseAsync(['--endpoint', endpoint, '--service-name', 'svc-ci', ...files], { from: 'user' })
  const said: string[] = []
  const listener = new Writable({
    write: (chunk, _encoding, done) => {
      said.push(String(chunk))
      done()
    },
  })
  const exitCode = await exportCommand.run(files, command.opts(), {
    ...environment,
    env: {},
    stdout: listener,
    stderr: listener,
  })
  const pipelines = counted(files.length, 'sample pipeline')
  return exitCode === exitCodes.ok
    ? `${pipelines} went through the gateway into the embedded store.`
    : `${pipelines} could not be exported:\n${said.join('')}`
}
