import type { Command } from 'commander'
import { settingsOf } from '../core/core-operator.ts'
import { diagnose, type Finding } from '../core/diagnosis.ts'
import type { CommandDefinition } from '../flags/command-definition.ts'
import { exitCodes } from '../process/environment.ts'
import { write } from '../process/output.ts'
import { diagnoseGateway } from '../serve/gateway-diagnosis.ts'
import { addStoreFlags } from '../serve/operator.ts'

const marks = { ok: 'ok   ', note: 'note ', wrong: 'WRONG' } as const satisfies Record<Finding['grade'], string>

export const doctorCommand: CommandDefinition = {
  name: 'doctor',
  define: (command: Command) => {
    addStoreFlags(
      command
        .summary('finds configuration errors and shows how to fix them')
        .description('Checks settings, data directory, keys, database and ports without changing them.'),
    ).addHelpText('after', '\nExit codes: 0 no errors, 1 errors were found, 2 a setting cannot be read.\n')
  },
  run: async (_inputs, flags, environment) => {
    const settings = settingsOf(flags, environment.env)
    const findings = [...(await diagnose(settings)), ...(await diagnoseGateway(settings, environment.clock.nowMs()))]
    for (const { grade, message, remedy } of findings) {
      await write(environment.stdout, `${marks[grade]} ${message}${remedy === undefined ? '' : `: ${remedy}`}\n`)
    }
    return findings.some(({ grade }) => grade === 'wrong') ? exitCodes.incomplete : exitCodes.ok
  },
}
