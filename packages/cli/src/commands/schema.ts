import { recordSchema } from '@penstock/forges'
import { Argument, type Command } from 'commander'
import type { CommandDefinition } from '../flags/command-definition.ts'
import { exitCodes } from '../process/environment.ts'
import { write } from '../process/output.ts'

const examples = `
A system that Penstock does not know writes one such record for each finished run. It is read by penstock convert, show, check and
export, and by the hooks of a source with the forge penstock.

Examples:
  $ penstock schema record > record.schema.json
`

export const schemaCommand: CommandDefinition = {
  name: 'schema',
  define: (command: Command) => {
    command
      .summary('prints the JSON Schema of a format that Penstock reads')
      .description('Prints the JSON Schema of a finished run in the format of Penstock.')
      .addArgument(new Argument('<name>', 'the format').choices(['record']))
      .addHelpText('after', examples)
  },
  run: async (_inputs, _flags, environment) => {
    await write(environment.stdout, `${JSON.stringify(recordSchema(), undefined, 2)}\n`)
    return exitCodes.ok
  },
}
